import type { SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Packages } from '../build/packaged-function.ts';
import type { Reached } from '../build/reached-names.ts';
import type { Concurrency } from './concurrency.ts';
import type { Egress } from './egress.ts';

/** Defaults that all functions of a deployment share. */
export interface FunctionDefaults {
  readonly packages: Packages;
  /** What the code of each function reaches: its permissions and variables follow from it. */
  readonly reached: Reached;
  readonly logRetention: RetentionDays;
  /** What Lambda itself writes into a function's log. */
  readonly platformLogs: SystemLogLevel;
  readonly concurrency: Concurrency;
  /** Network of the functions that talk to MongoDB; `undefined`: no fixed addresses. */
  readonly egress: Egress | undefined;
}
