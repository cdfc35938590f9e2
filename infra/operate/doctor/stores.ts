import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { GetPublicAccessBlockCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { requireOperations, unsupportedOperation } from '../../local/dynamo.ts';
import { withClient } from './aws-clients.ts';
import { type Check, failed, type Outcome, ok, setting, type Target, warning } from './check.ts';

const onTable = <T>(target: Target, check: (client: DynamoDBClient, TableName: string) => Promise<T>): Promise<T> =>
  withClient(new DynamoDBClient(target.aws), (client) => check(client, setting(target, 'TABLE_NAME')));

const onBucket = <T>(target: Target, check: (client: S3Client, Bucket: string) => Promise<T>): Promise<T> =>
  withClient(new S3Client({ ...target.aws, forcePathStyle: target.local }), (client) =>
    check(client, setting(target, 'FILES_BUCKET')),
  );

const describeQueue = async (client: SQSClient, QueueUrl: string) => {
  const AttributeNames = ['ApproximateNumberOfMessages' as const, 'RedrivePolicy' as const];
  const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  return { waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0), redrive: Attributes.RedrivePolicy };
};

/** With more messages than this, the consumer is probably stuck. */
const manyMessages = 1000;

const queueOutcome = (target: Target, variable: string): Promise<Outcome> =>
  withClient(new SQSClient({ ...target.aws, useQueueUrlAsEndpoint: false }), async (client) => {
    const { waiting, redrive } = await describeQueue(client, setting(target, variable));
    if (!redrive) return failed('has no dead-letter queue', 'Deploy again: npm run deploy');
    const policy = JSON.parse(redrive) as { readonly deadLetterTargetArn: string };
    const QueueName = policy.deadLetterTargetArn.split(':').at(-1) ?? '';
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName }));
    const { waiting: dead } = await describeQueue(client, QueueUrl);
    if (dead > 0) {
      return warning(
        `${dead} dead ${dead === 1 ? 'letter' : 'letters'} in ${QueueName}`,
        'Find the reason in the log of the job, then redrive the messages to the queue.',
      );
    }
    if (waiting > manyMessages)
      return warning(`${waiting} messages are waiting`, 'Check whether its job is throttled or fails.');
    return ok(`${waiting} messages are waiting, no dead letters`);
  });

export const storeChecks: readonly Check[] = [
  {
    name: 'table',
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }));
        if (Table?.TableStatus !== 'ACTIVE')
          return failed(`${TableName} is ${Table?.TableStatus}`, 'Wait until it is ACTIVE.');
        if (!target.local && !Table.DeletionProtectionEnabled) {
          return warning(
            `${TableName} can be deleted by mistake`,
            'Deploy the data stack again; it protects the table.',
          );
        }
        return ok(`${TableName} is active`);
      }),
  },
  {
    name: 'table operations',
    run: async (target) => {
      // AWS has all operations, and the check would need permission to write.
      if (!target.local) return { level: 'skipped', detail: 'only checked locally' };
      return onTable(target, async (client, TableName) => {
        try {
          await requireOperations(client, TableName);
          return ok('DynamoDB supports every operation that Basalt uses');
        } catch (error) {
          const unsupported = unsupportedOperation(error);
          if (unsupported === undefined) throw error;
          return failed(`DynamoDB rejected ${unsupported}`, 'Use a DynamoDB that supports this operation.');
        }
      });
    },
  },
  {
    name: 'table expiry',
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
        const on = ttl?.TimeToLiveStatus === 'ENABLED' && ttl.AttributeName === 'expiresAt';
        if (on) return ok('time to live uses expiresAt');
        return failed(
          'time to live is off, so expired items are never deleted',
          'Turn on time to live with the attribute expiresAt.',
        );
      }),
  },
  {
    name: 'table backups',
    deployedOnly: true,
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { ContinuousBackupsDescription: backups } = await client.send(
          new DescribeContinuousBackupsCommand({ TableName }),
        );
        return backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
          ? ok('point-in-time recovery is on')
          : failed('point-in-time recovery is off', 'Deploy the data stack again; it turns this on.');
      }),
  },
  {
    name: 'file bucket',
    run: (target) =>
      onBucket(target, async (client, Bucket) => {
        await client.send(new HeadBucketCommand({ Bucket }));
        return ok(`${Bucket} exists`);
      }),
  },
  {
    name: 'file bucket access',
    deployedOnly: true,
    run: (target) =>
      onBucket(target, async (client, Bucket) => {
        const { PublicAccessBlockConfiguration: block } = await client.send(
          new GetPublicAccessBlockCommand({ Bucket }),
        );
        const all =
          block?.BlockPublicAcls && block.BlockPublicPolicy && block.IgnorePublicAcls && block.RestrictPublicBuckets;
        if (all) return ok('public access is blocked');
        return failed('public access is not blocked', 'Deploy the files stack again; it blocks public access.');
      }),
  },
  { name: 'mail queue', run: (target) => queueOutcome(target, 'MAIL_QUEUE_URL') },
  { name: 'work queue', run: (target) => queueOutcome(target, 'WORK_QUEUE_URL') },
  { name: 'webhook queue', run: (target) => queueOutcome(target, 'WEBHOOK_QUEUE_URL') },
];
