import { expect, test } from 'vitest';
import { jobs } from '../../functions/jobs/jobs.ts';
import { mailTries } from '../../shared/mail/retries.ts';
import { ofType, synthesise } from './synthesis.ts';

const { stacks } = synthesise({ emailFrom: 'Example <no-reply@example.com>' });
const queues = stacks.get('Basalt-Queues') ?? new Map();
const [dead, mail] = [...ofType(queues, 'AWS::SQS::Queue')].sort(([a], [b]) => a.localeCompare(b));

test('every queue is encrypted and outlives its stack', () => {
  const all = [...ofType(queues, 'AWS::SQS::Queue').values()];
  expect(all).toHaveLength(2);
  for (const queue of all) {
    expect(queue).toMatchObject({ Properties: { SqsManagedSseEnabled: true }, DeletionPolicy: 'Retain' });
  }
});

test('every queue refuses who does not use TLS', () => {
  const policies = [...ofType(queues, 'AWS::SQS::QueuePolicy').values()].map(({ Properties }) => Properties);
  expect(policies).toHaveLength(2);
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

test('a mail goes to the dead-letter queue after its last try, and is kept there for two weeks', () => {
  expect(mail?.[1].Properties.RedrivePolicy).toEqual({
    deadLetterTargetArn: { 'Fn::GetAtt': [dead?.[0], 'Arn'] },
    maxReceiveCount: mailTries,
  });
  expect(dead?.[1].Properties.MessageRetentionPeriod).toBe(14 * 86_400);
});

const jobResources = stacks.get('Basalt-Jobs') ?? new Map();
const [mapping] = ofType(jobResources, 'AWS::Lambda::EventSourceMapping').values();
const deliver = [...ofType(jobResources, 'AWS::Lambda::Function').values()].find(
  ({ Properties }) => Properties.Description === jobs['deliver-mail'].summary,
);

test('deliver-mail gets batches of which it may report single messages as failed, in few runs at once', () => {
  expect(mapping?.Properties).toMatchObject({
    BatchSize: jobs['deliver-mail'].starts.batchSize,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    ScalingConfig: { MaximumConcurrency: 2 },
  });
  expect(JSON.stringify(mapping?.Properties.EventSourceArn)).toContain('Mail');
});

test('the queue keeps a message back for longer than deliver-mail can run', () => {
  const visibility = Number(mail?.[1].Properties.VisibilityTimeout);
  expect(visibility).toBeGreaterThan(Number(deliver?.Properties.Timeout) * 2);
});

test('deliver-mail is told the queue, the provider and the sender of the deployment', () => {
  expect(deliver?.Properties.Environment).toMatchObject({
    Variables: {
      EMAIL_FROM: 'Example <no-reply@example.com>',
      MAIL_QUEUE_URL: expect.anything() as unknown,
      MAIL_PROVIDER_SECRET_ARN: expect.anything() as unknown,
    },
  });
});
