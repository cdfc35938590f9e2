import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { mailTries, mailVisibilitySeconds } from '../shared/mail/retries.ts';

const shared = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

/** The queues between functions; each has a dead-letter queue for what could not be done. */
export class QueueStack extends Stack {
  readonly mailQueue: Queue;

  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, props);
    const deadLetters = new Queue(this, 'DeadMail', { ...shared, retentionPeriod: Duration.days(14) });
    this.mailQueue = new Queue(this, 'Mail', {
      ...shared,
      visibilityTimeout: Duration.seconds(mailVisibilitySeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: mailTries },
    });
  }
}
