import type { SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Concurrency } from './concurrency.ts';
import type { Egress } from './egress.ts';
import type { Packages } from './packaged-function.ts';

/** What every function of a deployment has in common. */
export interface House {
  readonly packages: Packages;
  readonly logRetention: RetentionDays;
  /** What Lambda itself writes into a function's log. */
  readonly platformLogs: SystemLogLevel;
  readonly concurrency: Concurrency;
  /** Where those that talk to MongoDB go out; `undefined`: from addresses of AWS that change. */
  readonly egress: Egress | undefined;
}
