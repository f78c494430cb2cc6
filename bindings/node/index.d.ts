import { Transform } from 'node:stream';

export declare const version: string;

/** A positive whole number, or a size such as `50KiB`. */
export type Amount = number | string;

export type StrategyName = 'head' | 'tail' | 'head-tail' | 'smart' | 'json' | 'auto';

/** Options that can be set per tool and per call. */
export interface RuleOptions {
  enabled?: boolean;
  skip?: boolean;
  preset?: 'code' | 'log' | 'error';
  maxLines?: Amount;
  maxBytes?: Amount;
  maxChars?: Amount;
  maxTokens?: Amount;
  keepLines?: Amount;
  keepBytes?: Amount;
  keepChars?: Amount;
  keepTokens?: Amount;
  strategy?: StrategyName;
  /** The weights of the beginning and the end. */
  split?: [number, number];
  /** The reader can start a sub-agent and give it a file. */
  task?: boolean;
  /** Show the bytes as they came, not as a terminal would show them. */
  raw?: boolean;
}

/** One call, and options for this call. */
export interface Call extends RuleOptions {
  tool?: string;
  callId?: string;
  session?: string;
  /** The id of the message that contains the call. */
  messageId?: string;
}

export type Shape =
  | 'anthropic'
  | 'openai-chat'
  | 'openai-responses'
  | 'gemini'
  | 'bedrock'
  | 'takumi'
  | 'unified'
  | 'klaude'
  | 'coding-agent'
  | 'opencode'
  | 'mcp';

export interface ResultCall extends Call {
  shape?: Shape;
}

/** The budget; null where a unit is not bounded. */
export interface Limits {
  lines: number | null;
  bytes: number | null;
  chars: number | null;
  tokens: number | null;
}

export interface Size {
  bytes: number;
  lines: number;
  chars?: number;
  tokens?: number;
}

/** A range of bytes that is not shown. Lines are counted from 1. */
export interface Gap {
  start: number;
  end: number;
  firstLine: number;
  lastLine: number;
  why: 'omitted' | 'repeated' | 'line' | 'control' | 'opaque' | 'unseen';
}

/** What the model gets, and what is known about the rest. */
export declare class Cut<T extends string | Uint8Array = string> {
  private constructor();
  readonly content: T;
  readonly truncated: boolean;
  /** Where the complete output is, usually a file. */
  readonly saved?: string;
  readonly id?: string;
  /** Why the output could not be stored completely. */
  readonly error?: string;
  readonly original?: Size;
  readonly shown?: Size;
  readonly removed?: Size;
  readonly limitedBy?: 'lines' | 'bytes' | 'chars' | 'tokens';
  readonly gaps: Gap[];
  /** The complete report, as plain data. */
  readonly report: Record<string, unknown>;
  toString(): string;
  toJSON(): Record<string, unknown>;
}

/** One event. */
export interface Event {
  event: 'passed' | 'skipped' | 'truncated' | 'error';
  /** Milliseconds since 1970. */
  timestamp: number;
  tool?: string;
  call_id?: string;
  session?: string;
  id?: string;
  path?: string;
  original_bytes?: number;
  content_bytes?: number;
  limited_by?: string;
  error?: string;
}

/** A custom store. */
export interface ForeignStore {
  save(
    content: string | Uint8Array,
    context: { tool?: string; callId?: string; session?: string; messageId?: string },
  ): string | Promise<string>;
}

/** A custom strategy: returns the text to show, which is marked as opaque. */
export type ForeignStrategy = (text: string, limits: Limits) => string | Promise<string>;

export interface TruncatorOptions extends Omit<RuleOptions, 'strategy'> {
  /** `native`, `opencode`, `coding-agent`, `unified`, `takumi`, `klaude`, or the path of a profile's TOML file. */
  profile?: string;
  /** By default the command line's store; null stores nothing. */
  store?: string | null | Store | ForeignStore;
  strategy?: StrategyName | ForeignStrategy;
  /** How the reader gets the rest back. */
  reach?: 'files' | 'shell' | 'nothing' | `tool:${string}`;
  /** The root of the project: the profile `unified` names files below it by a relative path. */
  projectRoot?: string;
  /** Options for each tool, which override those for all. */
  tools?: Record<string, RuleOptions>;
  /** Tools whose outputs pass unchanged. */
  skipTools?: string[];
  /** The limit for all results of one batch together, in bytes. */
  total?: Amount;
  /** The most bytes that are stored of one output. */
  maxOutput?: Amount;
  /** How many days outputs are kept, instead of as long as the profile says; 0 for no limit. */
  retentionDays?: number;
  /** Whether the first output that the process stores in a directory starts `cleanup` on another thread; default true. */
  automaticCleaning?: boolean;
  decide?: (tool: string | undefined, value: unknown) => boolean | RuleOptions;
  onEvent?: (event: Event) => void;
}

/** What was done with one result. */
export interface Judged {
  shape: Shape;
  tool?: string;
  verdict: 'fits' | 'passed' | 'cut';
  saved?: string;
  id?: string;
  error?: string;
  /** A summary of a result that was cut, for a terminal. */
  panel?: string;
}

/** Bounds tool outputs. */
export declare class Truncator {
  constructor(options?: TruncatorOptions);
  readonly profile: string;
  /** Works on another thread. Do not change or transfer a Buffer until the promise settles. */
  cut<T extends string | Uint8Array>(output: T, call?: Call): Promise<Cut<T extends string ? string : Uint8Array>>;
  cutSync<T extends string | Uint8Array>(output: T, call?: Call): Cut<T extends string ? string : Uint8Array>;
  /** An object gives an object, JSON text gives JSON text; a result that does not change is the same object. */
  result<T>(value: T, call?: ResultCall): Promise<T>;
  resultSync<T>(value: T, call?: ResultCall): T;
  judge<T>(value: T, call?: ResultCall): Promise<{ value: T; results: Judged[] }>;
  /** Bounds what a tool returned: text is cut, results are bounded, other objects are cut as text if too long as JSON. */
  bound(value: unknown, call?: Call): Promise<unknown>;
  tool<A extends unknown[]>(execute: (...inputs: A) => unknown, call?: Call): (...inputs: A) => Promise<unknown>;
  transform(call?: Call): OffcutTransform;
  /** Removes the stored outputs whose retention has ended, and returns how many. */
  cleanup(): Promise<number>;
}

/** A stream: an output in, its preview out. If the stream is destroyed, what came until then is stored. */
export declare class OffcutTransform extends Transform {
  constructor(truncator?: Truncator | TruncatorOptions, call?: Call);
  /** Set these before the stream ends. */
  exitCode?: number | null;
  remark?: string;
  /** Set from the event `cut` on, or from `close` if the stream was destroyed. */
  readonly cut?: Cut<Uint8Array>;
}

export type CutOptions = Call & Pick<TruncatorOptions, 'profile' | 'store'>;

export declare function cut<T extends string | Uint8Array>(
  output: T,
  options?: CutOptions,
): Promise<Cut<T extends string ? string : Uint8Array>>;
export declare function cutSync<T extends string | Uint8Array>(
  output: T,
  options?: CutOptions,
): Cut<T extends string ? string : Uint8Array>;
export declare function result<T>(value: T, options?: CutOptions & { shape?: Shape }): Promise<T>;

export interface Page {
  content: string;
  id: string;
  start: number;
  end: number;
  firstLine?: number;
  lastLine?: number;
  complete: boolean;
  next?: string;
}

export interface Hit {
  id: string;
  line: number;
  offset: number;
  text: string;
  isMatch: boolean;
}

export interface Entry {
  id: string;
  uri: string;
  path?: string;
  /** Seconds since 1970. */
  created: number;
  tool?: string;
  callId?: string;
  messageId?: string;
  session?: string;
  profile: string;
  bytes: number;
  lines?: number;
  exitCode?: number;
  status: 'running' | 'complete' | 'capped' | 'abandoned' | 'damaged';
  pinned: boolean;
}

/** The outputs in a directory; without a directory, those in the command line's store. */
export declare class Store {
  constructor(directory?: string);
  readonly directory: string;
  read(
    reference?: string,
    options?: { lines?: string; bytes?: string; around?: number; context?: number; maxLines?: number; maxBytes?: number },
  ): Promise<Page>;
  cat(reference?: string): Promise<Buffer>;
  grep(
    pattern: string | RegExp,
    reference?: string,
    options?: { ignoreCase?: boolean; context?: number; maxCount?: number },
  ): Promise<{ matches: number; shown: number; hits: Hit[] }>;
  list(): Promise<Entry[]>;
  get(reference?: string): Promise<Entry>;
  pin(reference: string): Promise<void>;
  unpin(reference: string): Promise<void>;
  remove(reference: string): Promise<void>;
  /** Removes outputs older than this many days, of one profile or of all; returns how many were removed. */
  clean(days: number, profile?: string): Promise<number>;
}

// The names of the coding agent's source document (seed 000).

export type TruncationDirection = 'head' | 'tail';

export type TruncationResult =
  | { content: string; truncated: false }
  | {
      content: string;
      truncated: true;
      /** Undefined if the output could not be saved; the content says so. */
      outputPath: string;
      removedLines?: number;
      removedBytes?: number;
    };

export interface TruncationConfig {
  maxLines: number;
  maxBytes: number;
  direction: TruncationDirection;
  enabled: boolean;
  retentionDays: number;
  storageDir?: string;
}

export interface TruncationOptions {
  maxLines?: number;
  maxBytes?: number;
  direction?: TruncationDirection;
  skip?: boolean;
}

export interface TruncationContext {
  toolName: string;
  sessionId?: string;
  messageId?: string;
  options?: TruncationOptions;
}

export interface TruncationStrategy {
  readonly name: string;
  needsTruncation(content: string, config: TruncationConfig): boolean | Promise<boolean>;
  truncate(content: string, config: TruncationConfig): StrategyResult | Promise<StrategyResult>;
}

/** What a strategy shows, and how much it says is not shown. */
export interface StrategyResult {
  content: string;
  removedLines?: number;
  removedBytes?: number;
}

export type TruncationEventType = 'truncated' | 'skipped' | 'error';

export interface TruncationEvent {
  type: TruncationEventType;
  toolName: string;
  originalSize: number;
  truncatedSize: number;
  outputPath?: string;
  error?: string;
  timestamp: number;
}

export type TruncationEventCallback = (event: TruncationEvent) => void;

export interface ITruncationStorage {
  save(content: string, context: TruncationContext): Promise<string>;
  read(path: string): Promise<string>;
  cleanup(retentionDays: number): Promise<number>;
  getStorageDir(): string;
}

export interface TruncationServiceConfig {
  global?: Partial<TruncationConfig>;
  tools?: Record<string, Partial<TruncationConfig>>;
  onEvent?: TruncationEventCallback;
  storage?: ITruncationStorage;
  strategy?: TruncationStrategy;
  /** Whether the first output that the process stores in a directory removes expired ones; default true. */
  automaticCleaning?: boolean;
}

export declare class TruncationService {
  constructor(config?: TruncationServiceConfig);
  output(content: string, context: TruncationContext): Promise<TruncationResult>;
  cleanup(): Promise<number>;
  updateConfig(config: Partial<TruncationConfig>): void;
  setToolConfig(toolName: string, config: Partial<TruncationConfig>): void;
}

export declare class TruncationStorage implements ITruncationStorage {
  constructor(storageDir?: string);
  save(content: string, context: TruncationContext): Promise<string>;
  read(filePath: string): Promise<string>;
  cleanup(retentionDays: number): Promise<number>;
  getStorageDir(): string;
}

export declare abstract class BaseTruncationStrategy implements TruncationStrategy {
  abstract readonly name: string;
  needsTruncation(content: string, config: TruncationConfig): boolean;
  truncate(content: string, config: TruncationConfig): StrategyResult;
  protected countLines(content: string): number;
  protected countBytes(content: string): number;
  protected truncateHead(content: string, maxLines: number): string[];
  protected truncateTail(content: string, maxLines: number): string[];
}

export declare class DefaultTruncationStrategy extends BaseTruncationStrategy {
  readonly name: string;
}

export interface ToolResult {
  success?: boolean;
  output?: string;
  metadata?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface TruncationMiddlewareConfig {
  service: TruncationService;
  skipTools?: string[];
  shouldTruncate?: (toolName: string, result: ToolResult) => boolean | TruncationOptions;
}

export type TruncationMiddleware = (
  toolName: string,
  result: ToolResult,
  context: TruncationContext,
) => Promise<ToolResult>;

export declare function createTruncationMiddleware(config: TruncationMiddlewareConfig): TruncationMiddleware;
export declare const DEFAULT_TRUNCATION_CONFIG: TruncationConfig;
export declare const TOOL_TRUNCATION_CONFIGS: Record<string, Partial<TruncationConfig>>;

// The names of OpenCode's (seed 001), Takumi's (seed 003) and Klaude's (seed 004) source documents.

export interface Truncate {
  readonly MAX_LINES: number;
  readonly MAX_BYTES: number;
  readonly RETENTION_MS: number;
  /** The directory with the complete outputs. */
  readonly DIR: string;
  /** The pattern of their files. */
  readonly GLOB: string;
  output(
    text: string,
    options?: { maxLines?: number; maxBytes?: number; direction?: TruncationDirection },
    agent?: { permission?: unknown },
  ): Promise<{ content: string; truncated: false } | { content: string; truncated: true; outputPath: string }>;
  cleanup(): Promise<number>;
}

export declare const Truncate: Truncate;
/** Without a directory, outputs go to the command line's store. */
export declare function createTruncate(options?: { directory?: string }): Truncate;

export interface TruncationPlugin {
  readonly name: 'truncation';
  readonly enforce: 'post';
  toolResult<T extends object>(
    this: { config?: { truncation?: boolean } } | void,
    toolResult: T,
    opts?: { toolUse?: { name?: string; callId?: string } },
  ): Promise<T & { truncated?: boolean; outputPath?: string }>;
}

export declare const truncationPlugin: TruncationPlugin;
/** `log` is called when an output cannot be saved; by default `console.error`. */
export declare function createTruncationPlugin(options?: { directory?: string; log?: (line: string) => void }): TruncationPlugin;

/** Returns a few lines for a terminal about `ui_extra.truncation` of a result: the sizes and the file. */
export declare function renderTruncationInfo(truncation: {
  saved_file_path: string;
  original_length: number;
  truncated_length: number;
}): string;
