import { expect, test } from 'vitest';
import { jobs } from '../../functions/jobs/jobs.ts';
import { mailTries } from '../../shared/mail/queue.ts';
import { workTries } from '../../shared/persistence/work-queue.ts';
import { everything, ofType, synthesise } from './synthesis.ts';

const { stacks } = synthesise(everything);
const queues = stacks.get('Staging-Queues') ?? new Map();
const [deadMail, deadWebhook, deadWork, mail, webhook, work] = [...ofType(queues, 'AWS::SQS::Queue')].sort(([a], [b]) =>
  a.localeCompare(b),
);

test('every queue is encrypted and outlives its stack', () => {
  const all = [...ofType(queues, 'AWS::SQS::Queue').values()];
  expect(all).toHaveLength(6);
  for (const queue of all) {
    expect(queue).toMatchObject({ Properties: { SqsManagedSseEnabled: true }, DeletionPolicy: 'Retain' });
  }
});

test('every queue rejects requests without TLS', () => {
  const policies = [...ofType(queues, 'AWS::SQS::QueuePolicy').values()].map(({ Properties }) => Properties);
  expect(policies).toHaveLength(6);
  for (const { PolicyDocument } of policies) {
    expect(PolicyDocument).toMatchObject({
      Statement: [
        {
          Effect: 'Deny',
          Action: 'sqs:*',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    });
  }
});

test.each([
  ['a mail', mail, deadMail, mailTries],
  ['a task', work, deadWork, workTries],
  ['a message of webhooks', webhook, deadWebhook, 3],
] as const)(
  '%s goes to the dead-letter queue after its last try, and is kept there for two weeks',
  (_, queue, dead, tries) => {
    expect(queue?.[1].Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [dead?.[0], 'Arn'] },
      maxReceiveCount: tries,
    });
    expect(dead?.[1].Properties.MessageRetentionPeriod).toBe(14 * 86_400);
  },
);

const jobResources = stacks.get('Staging-Jobs') ?? new Map();
const mappings = [...ofType(jobResources, 'AWS::Lambda::EventSourceMapping').values()];
const mappingOf = (queue: string) =>
  mappings.find(({ Properties }) => JSON.stringify(Properties.EventSourceArn).includes(queue));
const functionOf = (job: 'deliver-mail' | 'run-task') =>
  [...ofType(jobResources, 'AWS::Lambda::Function').values()].find(
    ({ Properties }) => Properties.Description === jobs[job].summary,
  );
const deliver = functionOf('deliver-mail');

test.each([
  ['deliver-mail', 'Mail', 2],
  ['run-task', 'Work', 5],
] as const)('%s gets batches with reports per message, in few concurrent runs', (job, queue, runs) => {
  expect(mappingOf(queue)?.Properties).toMatchObject({
    BatchSize: jobs[job].starts.batchSize,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: runs },
  });
});

test.each([
  ['deliver-mail', mail],
  ['run-task', work],
] as const)('the queue keeps a message back for longer than %s can run', (job, queue) => {
  const visibility = Number(queue?.[1].Properties.VisibilityTimeout);
  expect(visibility).toBeGreaterThan(Number(functionOf(job)?.Properties.Timeout) * 2);
});

test('deliver-mail has the queue, provider, sender and rate of the deployment in its environment', () => {
  expect(deliver?.Properties.Environment).toMatchObject({
    Variables: {
      EMAIL_FROM: 'Example <no-reply@example.com>',
      MAIL_PER_SECOND: '10',
      MAIL_RECIPIENTS_PER_DAY: '20000',
      MAIL_QUEUE_URL: expect.anything() as unknown,
      MAIL_PROVIDER_SECRET_ARN: expect.anything() as unknown,
    },
  });
});
