import type { SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Packages } from '../build/packaged-function.ts';
import type { Reached } from '../build/reached-names.ts';
import type { Concurrency } from './concurrency.ts';
import type { Egress } from './egress.ts';

/** Defaults of all functions of a deployment. */
export interface FunctionDefaults {
  readonly packages: Packages;
  /** The names that each bundle contains, from which permissions and variables follow. */
  readonly reached: Reached;
  readonly logRetention: RetentionDays;
  /** Lambda's own lines in a function's log. */
  readonly platformLogs: SystemLogLevel;
  readonly concurrency: Concurrency;
  /** The network of functions that use MongoDB; `undefined` without fixed addresses. */
  readonly egress: Egress | undefined;
}
