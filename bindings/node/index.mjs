import offcut from './index.js';

export const {
  version,
  Cut,
  OffcutTransform,
  Store,
  Truncator,
  cut,
  cutSync,
  result,
  Truncate,
  truncationPlugin,
  BaseTruncationStrategy,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  TOOL_TRUNCATION_CONFIGS,
  TruncationService,
  TruncationStorage,
  createTruncationMiddleware,
} = offcut;
export default offcut;
