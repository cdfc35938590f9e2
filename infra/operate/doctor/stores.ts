import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { GetPublicAccessBlockCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { refusedOperation, requireOperations } from '../../local/table-operations.ts';
import { asking } from './asking.ts';
import { type Check, failed, type Outcome, ok, setting, type Target, warning } from './check.ts';

const onTable = <T>(target: Target, ask: (client: DynamoDBClient, TableName: string) => Promise<T>): Promise<T> =>
  asking(new DynamoDBClient(target.aws), (client) => ask(client, setting(target, 'TABLE_NAME')));

const onBucket = <T>(target: Target, ask: (client: S3Client, Bucket: string) => Promise<T>): Promise<T> =>
  asking(new S3Client({ ...target.aws, forcePathStyle: target.local }), (client) =>
    ask(client, setting(target, 'FILES_BUCKET')),
  );

/** How many messages wait on a queue, and where those go that could not be done. */
const lookAt = async (client: SQSClient, QueueUrl: string) => {
  const AttributeNames = ['ApproximateNumberOfMessages' as const, 'RedrivePolicy' as const];
  const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  return { waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0), redrive: Attributes.RedrivePolicy };
};

const behind = 1000;

const queueOutcome = (target: Target, variable: string): Promise<Outcome> =>
  asking(new SQSClient({ ...target.aws, useQueueUrlAsEndpoint: false }), async (client) => {
    const { waiting, redrive } = await lookAt(client, setting(target, variable));
    if (!redrive) return failed('has no dead-letter queue', 'Deploy again with: npm run deploy');
    const policy = JSON.parse(redrive) as { readonly deadLetterTargetArn: string };
    const QueueName = policy.deadLetterTargetArn.split(':').at(-1) ?? '';
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName }));
    const { waiting: dead } = await lookAt(client, QueueUrl);
    if (dead > 0) {
      return warning(
        `${dead} dead ${dead === 1 ? 'letter' : 'letters'} in ${QueueName}`,
        'Find why in the log of the job, then redrive them to the queue.',
      );
    }
    if (waiting > behind) return warning(`${waiting} messages wait`, 'See whether its job is throttled or fails.');
    return ok(`${waiting} messages wait, no dead letters`);
  });

/** The table, the files' bucket and the queues. */
export const storeChecks: readonly Check[] = [
  {
    name: 'table',
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }));
        if (Table?.TableStatus !== 'ACTIVE')
          return failed(`${TableName} is ${Table?.TableStatus}`, 'Wait until it is ACTIVE.');
        if (!target.local && !Table.DeletionProtectionEnabled) {
          return warning(`${TableName} can be deleted by mistake`, 'Deploy the data stack again, which protects it.');
        }
        return ok(`${TableName} is active`);
      }),
  },
  {
    name: 'operations of the table',
    run: async (target) => {
      // AWS has them all, and would want the permission to write.
      if (!target.local) return { level: 'skipped', detail: 'is for other DynamoDBs' };
      return onTable(target, async (client, TableName) => {
        try {
          await requireOperations(client, TableName);
          return ok('DynamoDB has every operation that is needed');
        } catch (error) {
          const refused = refusedOperation(error);
          if (refused === undefined) throw error;
          return failed(`refused ${refused}`, 'Use a DynamoDB that has this operation.');
        }
      });
    },
  },
  {
    name: 'expiry of items',
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
        const on = ttl?.TimeToLiveStatus === 'ENABLED' && ttl.AttributeName === 'expiresAt';
        if (on) return ok('expiresAt is the time to live');
        return failed('the table keeps what has expired for ever', 'Turn time to live on, by the attribute expiresAt.');
      }),
  },
  {
    name: 'backups of the table',
    deployedOnly: true,
    run: (target) =>
      onTable(target, async (client, TableName) => {
        const { ContinuousBackupsDescription: backups } = await client.send(
          new DescribeContinuousBackupsCommand({ TableName }),
        );
        return backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
          ? ok('point-in-time recovery is on')
          : failed('point-in-time recovery is off', 'Deploy the data stack again, which turns it on.');
      }),
  },
  {
    name: 'bucket of the files',
    run: (target) =>
      onBucket(target, async (client, Bucket) => {
        await client.send(new HeadBucketCommand({ Bucket }));
        return ok(`${Bucket} is there`);
      }),
  },
  {
    name: 'privacy of the bucket',
    deployedOnly: true,
    run: (target) =>
      onBucket(target, async (client, Bucket) => {
        const { PublicAccessBlockConfiguration: block } = await client.send(
          new GetPublicAccessBlockCommand({ Bucket }),
        );
        const all =
          block?.BlockPublicAcls && block.BlockPublicPolicy && block.IgnorePublicAcls && block.RestrictPublicBuckets;
        if (all) return ok('only the service reads it');
        return failed('public access is not blocked', 'Deploy the files stack again, which blocks it.');
      }),
  },
  { name: 'mail queue', run: (target) => queueOutcome(target, 'MAIL_QUEUE_URL') },
  { name: 'work queue', run: (target) => queueOutcome(target, 'WORK_QUEUE_URL') },
  { name: 'webhook queue', run: (target) => queueOutcome(target, 'WEBHOOK_QUEUE_URL') },
];
