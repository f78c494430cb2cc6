// Uses of the public types, checked by the compiler: the examples of the source documents.
import {
  BaseTruncationStrategy,
  DefaultTruncationStrategy,
  OffcutTransform,
  Store,
  Truncate,
  TruncationService,
  Truncator,
  createTruncationMiddleware,
  cut,
  cutSync,
  type ITruncationStorage,
  type TruncationConfig,
  type TruncationContext,
} from 'offcut';
import { boundTools } from 'offcut/ai';
import { boundHandler } from 'offcut/mcp';

class JsonAwareStrategy extends BaseTruncationStrategy {
  readonly name = 'json-aware';

  needsTruncation(content: string, config: TruncationConfig): boolean {
    return super.needsTruncation(content, config) && this.countLines(content) > 1;
  }

  truncate(content: string, config: TruncationConfig) {
    return new DefaultTruncationStrategy().truncate(content, config);
  }
}

class S3Storage implements ITruncationStorage {
  async save(content: string, context: TruncationContext): Promise<string> {
    return `${context.toolName}${content.length}`;
  }
  async read(path: string): Promise<string> {
    return path;
  }
  async cleanup(): Promise<number> {
    return 0;
  }
  getStorageDir(): string {
    return '';
  }
}

export async function example(content: string, bytes: Buffer): Promise<void> {
  const truncationService = new TruncationService({
    strategy: new JsonAwareStrategy(),
    storage: new S3Storage(),
    global: { maxLines: 2000, direction: 'head' },
    onEvent: (event) => console.log(`[Truncation] ${event.type}: ${event.toolName}`),
  });
  const result = await truncationService.output(content, { toolName: 'x' });
  if (result.truncated) {
    const path: string = result.outputPath;
    console.log(path, result.removedLines);
  } else {
    // @ts-expect-error an output that fits has no path
    console.log(result.outputPath);
  }
  const middleware = createTruncationMiddleware({ service: truncationService, shouldTruncate: () => ({ maxLines: 3 }) });
  await middleware('x', { success: true, output: content }, { toolName: 'x' });
  const text: string = (await cut(content, { tool: 'bash', maxBytes: '50KiB' })).content;
  const shown: Uint8Array = cutSync(bytes).content;
  const own = new Truncator({ store: { save: async () => 'x' }, strategy: (text, limits) => text.slice(0, limits.bytes ?? 9) });
  const kept = await own.result({ content: [{ type: 'text' as const, text }] });
  console.log(kept.content[0]?.text, shown.length);
  const stream: OffcutTransform = own.transform({ tool: 'x' });
  console.log(stream.cut?.gaps[0]?.firstLine, (await new Store().read('last', { lines: '1:2' })).content);
  const bounded = await Truncate.output(content, { direction: 'tail' }, { permission: { task: 'allow' } });
  console.log(bounded.truncated ? bounded.outputPath : bounded.content);
  console.log(boundTools({ a: { execute: () => 5 } }).a.execute(), boundHandler('x', async () => ({ content: [] }), undefined, { outputSchema: {} }));
  // @ts-expect-error a number is not an output
  await cut(5);
  // @ts-expect-error there is no such option
  await cut('x', { maxLine: 5 });
}
