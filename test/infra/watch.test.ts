import { readFileSync } from 'node:fs';
import path, { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deployedJobs } from '../../functions/jobs/jobs.ts';
import { root } from '../../infra/build/function-files.ts';
import { notOurs } from '../../shared/core/errors.ts';
import { everything, type Json, ofType, type Resource, synthesise } from './synthesis.ts';

const { stacks } = synthesise(everything);
const watch = stacks.get('Staging-Watch') ?? new Map<string, Resource>();
const alarms = [...ofType(watch, 'AWS::CloudWatch::Alarm').values()].map(({ Properties }) => Properties);
const queriesPage = readFileSync(join(root, 'docs/operate/logs.md'), 'utf8');

const titles = alarms.map(({ AlarmName }) => String(AlarmName).replace(/^Staging: /, ''));
const measuring = (part: string) => alarms.filter((alarm) => JSON.stringify(alarm).includes(part));

test.each(titles)('alarm "%s" is titled with what users lose', (title) => {
  expect(title).toMatch(/^[A-Z][^.]+$/);
  expect(title.length).toBeLessThan(120);
});

test('docs/operate/alarms.md has every alarm (after a change, run this test with -u)', async () => {
  const { stacks: plain } = synthesise();
  const defined = [
    ...ofType(plain.get('Basalt-Watch') ?? new Map<string, Resource>(), 'AWS::CloudWatch::Alarm').values(),
  ];
  const described = defined.map(({ Properties: { AlarmName, AlarmDescription, Threshold } }) => {
    const title = String(AlarmName).replace(/^Basalt: /, '');
    const [when = '', fix = ''] = String(AlarmDescription)
      .slice(title.length + 2)
      .split('\n');
    const [, lost, job, kind] = /^(.+): ([a-z-]+) (fails|takes too long|falls behind)$/.exec(title) ?? [];
    return { title, when, fix, lost, job, kind, threshold: Number(Threshold) };
  });
  const general = described
    .filter(({ job }) => !job)
    .map(({ title, when, fix }) =>
      `| ${title} | ${when} | ${fix} |\n`.replace(/docs(\S+scaling)\.md/, '[scaling](..$1.md)'),
    );
  const ofJobs = described.filter(({ kind }) => kind === 'fails');
  const thresholdOf = (job: string | undefined, kind: string, unit: number): string => {
    const alarm = described.find((each) => each.job === job && each.kind === kind);
    return alarm ? String(alarm.threshold / unit) : '';
  };
  const jobRows = ofJobs.map(
    ({ job, lost }) =>
      `| \`${job}\` | ${lost} | ${thresholdOf(job, 'takes too long', 1000)} | ${thresholdOf(job, 'falls behind', 60)} |\n`,
  );
  expect(general.length + described.filter(({ job }) => job).length).toBe(defined.length);
  const page = path.join(root, 'docs/operate/alarms.md');
  const [before = '', after = ''] = readFileSync(page, 'utf8').split(/<!-- alarms -->\n.*<!-- \/alarms -->\n/s);
  const tables = `| Alarm | When | What to do first |
|---|---|---|
${general.join('')}
## Alarms of background jobs

- *… fails*: runs of the job failed or logged an error. Run the log query [Errors](logs.md#errors).
  The job continues automatically when the cause is fixed.
- *… takes too long*: a run took four fifths of its maximum time. If this happens only once, it is harmless: the next run continues.
- *… falls behind*: work has been overdue for the hours in the last column (\`behindMinutes\` in the job's log).
  Check the load of MongoDB and DynamoDB, and find out which project causes the work.

| Job | Alarm title begins with | Takes too long from, seconds | Falls behind from, hours |
|---|---|--:|--:|
${jobRows.join('')}`;
  await expect(`${before}<!-- alarms -->\n${tables}<!-- /alarms -->\n${after}`).toMatchFileSnapshot(page);
});

test('every alarm has its own text, notifies of start and end, and ignores missing data', () => {
  expect(new Set(titles).size).toBe(titles.length);
  const [topic] = ofType(watch, 'AWS::SNS::Topic').keys();
  for (const alarm of alarms) {
    expect(alarm).toMatchObject({
      AlarmActions: [{ Ref: topic }],
      OKActions: [{ Ref: topic }],
      TreatMissingData: 'notBreaching',
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    });
    expect(String(alarm.AlarmDescription)).toContain(String(alarm.AlarmName).replace(/^Staging: /, ''));
  }
});

describe('alarms watch', () => {
  test('failures and latency of both gateways', () => {
    const failing = measuring('5xx').filter((alarm) => JSON.stringify(alarm).includes('ApiId'));
    expect(failing).toHaveLength(2);
    for (const alarm of failing) expect(JSON.stringify(alarm)).toContain('failures - FILL(others, 0)');
    expect(measuring('"Latency"')).toHaveLength(2);
  });

  test('no failure that a caller can cause, because functions count these', () => {
    const watched = alarms.flatMap(
      ({ Metrics }) => JSON.stringify(Metrics ?? '').match(/"Namespace":"[^"]+Api"/g) ?? [],
    );
    expect(new Set(watched)).toEqual(
      new Set(['"Namespace":"Staging-PublicApi"', '"Namespace":"Staging-DashboardApi"']),
    );
    for (const [name, stack] of stacks) {
      if (!name.includes('-Routes-')) continue;
      const filters = [...ofType(stack, 'AWS::Logs::MetricFilter').values()].map(({ Properties }) => Properties);
      expect(filters, name).toHaveLength(ofType(stack, 'AWS::Lambda::Function').size);
      for (const { FilterPattern, MetricTransformations } of filters) {
        for (const code of notOurs) expect(FilterPattern).toContain(`"${code}"`);
        expect(String(FilterPattern).length).toBeLessThanOrEqual(1024);
        const [{ MetricNamespace, MetricName }] = MetricTransformations as [Record<string, string>];
        expect([MetricName, watched]).toEqual([
          'failures-not-ours',
          expect.arrayContaining([`"Namespace":"${MetricNamespace}"`]),
        ]);
      }
    }
  });

  test('dead letters and the oldest message of every queue', () => {
    const queues = ofType(stacks.get('Staging-Queues') ?? new Map<string, Resource>(), 'AWS::SQS::Queue').size / 2;
    expect(measuring('ApproximateNumberOfMessagesVisible')).toHaveLength(queues);
    expect(measuring('ApproximateAgeOfOldestMessage')).toHaveLength(queues);
    for (const alarm of measuring('ApproximateNumberOfMessagesVisible')) {
      expect(JSON.stringify(alarm.Dimensions)).toContain('Dead');
      expect(alarm.Threshold).toBe(1);
    }
  });

  test('errors of every job except deployment jobs, and the time of all without a waiting caller', () => {
    const named = deployedJobs('on').filter(([name]) => name !== 'prepare-control');
    for (const [name, { starts }] of named) {
      expect(measuring(`Errors of ${name}`), name).toHaveLength(1);
      expect(measuring(`A run of ${name} took`), name).toHaveLength(
        starts === 'invoked' || starts === 'by the origin of files' ? 0 : 1,
      );
    }
    const errors = [...ofType(watch, 'AWS::Logs::MetricFilter').keys()].filter((id) => id.includes('loggederrors'));
    expect(errors).toHaveLength(named.length);
  });

  test.each([
    ['sweep-uploads', 180],
    ['remove-projects', 60],
  ])('the oldest overdue work of %s, after %i minutes', (name, minutes) => {
    const alarms = measuring(`"${name}-behind"`);
    expect(alarms.map(({ Threshold }) => Threshold)).toEqual([minutes]);
    expect(JSON.stringify([...ofType(watch, 'AWS::Logs::MetricFilter').values()])).toContain('$.behindMinutes');
  });

  test('runs that use four fifths of their time limit', () => {
    const [slow] = measuring('A run of run-task took');
    expect(slow?.Threshold).toBe(5 * 60_000 * 0.8);
  });

  test('table, webhook and concurrent instances', () => {
    for (const metric of ['ReadThrottleEvents', 'WriteThrottleEvents', 'SystemErrors', 'Url5xxCount']) {
      expect(measuring(`"${metric}"`), metric).toHaveLength(1);
    }
    const client = readFileSync(join(root, 'shared/persistence/dynamo.ts'), 'utf8');
    const operations = [...client.matchAll(/readonly (\w+): \{ input:/g)].map(([, name = '']) => name);
    expect(operations).toContain('BatchWriteItem');
    for (const operation of operations) expect(measuring(`"${operation}"`), operation).toHaveLength(1);
    expect(measuring('"Throttles"')).toHaveLength(2);
    expect(measuring('"ConcurrentExecutions"')[0]?.Threshold).toBe(320);
  });
});

describe('alarm topic', () => {
  test('accepts only messages of the alarms of this deployment, over TLS', () => {
    const [policy] = ofType(watch, 'AWS::SNS::TopicPolicy').values();
    const { Statement } = (policy?.Properties.PolicyDocument ?? { Statement: [] }) as {
      readonly Statement: readonly Record<string, unknown>[];
    };
    expect(Statement.map(({ Effect }) => Effect).sort()).toEqual(['Allow', 'Deny']);
    const allowed = Statement.find(({ Effect }) => Effect === 'Allow');
    expect(allowed).toMatchObject({ Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } });
    expect(JSON.stringify(allowed?.Condition)).toContain(':alarm:Staging*');
  });

  test('notifies alarmEmail if it is set', () => {
    const [subscription] = ofType(watch, 'AWS::SNS::Subscription').values();
    expect(subscription?.Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
    const plain = synthesise().stacks.get('Basalt-Watch') ?? new Map<string, Resource>();
    expect(ofType(plain, 'AWS::SNS::Subscription').size).toBe(0);
    expect(ofType(plain, 'AWS::CloudWatch::Alarm').size).toBe(alarms.length);
  });
});

test('dashboard shows alarms, gateways, functions, queues, table, files and console', () => {
  const [dashboard] = ofType(watch, 'AWS::CloudWatch::Dashboard').values();
  expect(dashboard?.Properties.DashboardName).toBe('Staging');
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  for (const part of [
    'Public API: requests',
    'Dashboard API: 5xx by route',
    'Functions: errors',
    'Mails:',
    'Tasks:',
    'Table:',
    'Public files:',
    'Console:',
  ]) {
    expect(body).toContain(part);
  }
});

test.each([
  ['Public files:', 'Files', 'PublicFiles'],
  ['Console:', 'Console', 'Console'],
])('dashboard reads failures of %s in us-east-1', (title, stack, id) => {
  const [dashboard] = ofType(watch, 'AWS::CloudWatch::Dashboard').values();
  const body = JSON.stringify(dashboard?.Properties.DashboardBody);
  const files = body.slice(body.indexOf(title));
  expect(files).toContain('5xxErrorRate');
  expect(files).toContain('us-east-1');
  expect(files).toMatch(new RegExp(`"Fn::ImportValue":"Staging-${stack}:[^"]*${id}`));
});

test('every log query of the guide is saved under its name', () => {
  const saved = [...ofType(watch, 'AWS::Logs::QueryDefinition').values()].map(({ Properties }) => Properties);
  expect(saved).toHaveLength(6);
  for (const { Name, QueryString } of saved) {
    expect(queriesPage).toContain(`### ${String(Name).replace(/^Staging\//, '')}\n`);
    expect(queriesPage).toContain(String(QueryString));
  }
});

test('alarmEmail is warned before the monthly budget is spent when one is set', () => {
  const [budget] = ofType(
    synthesise(everything).stacks.get('Staging-Watch') ?? new Map(),
    'AWS::Budgets::Budget',
  ).values();
  expect(budget?.Properties.Budget).toMatchObject({ BudgetLimit: { Amount: 200, Unit: 'USD' }, TimeUnit: 'MONTHLY' });
  const told = budget?.Properties.NotificationsWithSubscribers as readonly Json[];
  expect(told.map((each) => JSON.stringify(each))).toEqual([
    expect.stringMatching(/"NotificationType":"ACTUAL","Threshold":80.*"ops@example\.com"/),
    expect.stringMatching(/"NotificationType":"FORECASTED","Threshold":100.*"ops@example\.com"/),
  ]);
  const plain = synthesise().stacks.get('Basalt-Watch') ?? new Map();
  expect(ofType(plain, 'AWS::Budgets::Budget').size).toBe(0);
});
