import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { QueueName } from '../../functions/jobs/jobs.ts';
import { type QueueLimits, queueLimits } from './queue-limits.ts';

const shared = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

/** A queue and its dead-letter queue. */
export interface QueuePair {
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

/** The queues between functions, each with a dead-letter queue. */
export class QueueStack extends Stack {
  readonly pairs: Readonly<Record<QueueName, QueuePair>>;

  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, props);
    this.pairs = {
      mail: this.#pair('Mail', queueLimits.mail),
      work: this.#pair('Work', queueLimits.work),
      webhooks: this.#pair('Webhook', queueLimits.webhooks),
    };
  }

  #pair(name: string, { tries, visibilitySeconds }: QueueLimits): QueuePair {
    const deadLetters = new Queue(this, `Dead${name}`, { ...shared, retentionPeriod: Duration.days(14) });
    const queue = new Queue(this, name, {
      ...shared,
      visibilityTimeout: Duration.seconds(visibilitySeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: tries },
    });
    new CfnOutput(this, `${name}QueueArn`, { value: queue.queueArn });
    new CfnOutput(this, `${name}DeadLettersArn`, { value: deadLetters.queueArn });
    // Other stacks may still import these outputs until they are updated.
    for (const value of [queue.queueArn, queue.queueUrl]) this.exportValue(value);
    return { queue, deadLetters };
  }
}
