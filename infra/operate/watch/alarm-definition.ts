import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';

/** Something that a user loses while a metric is at or above a figure: one alarm. */
export interface AlarmDefinition {
  /** Unique in the deployment, for CloudFormation. */
  readonly id: string;
  /** What is lost, as a sentence; the alarm is called so. */
  readonly title: string;
  /** What was measured. */
  readonly when: string;
  /** What the operator should do first. */
  readonly fix: string;
  readonly metric: IMetric;
  readonly atLeast: number;
  /** How many periods in a row; one unless said otherwise. */
  readonly periods?: number;
}
