import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** An alarm: a user loses something while a metric is at or above a threshold. */
export interface AlarmDefinition {
  /** CloudFormation id, unique in the deployment. */
  readonly id: string;
  /** What users lose, as a sentence; the alarm's name. */
  readonly title: string;
  /** What the metric measures. */
  readonly when: string;
  /** The operator's first step. */
  readonly fix: string;
  readonly metric: IMetric;
  readonly atLeast: number;
  /** Consecutive periods; default 1. */
  readonly periods?: number;
}
