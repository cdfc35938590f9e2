import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { jobs } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { areaStackName } from '../../infra/area-stack.ts';
import { type Sessions, statementsFor } from '../../infra/grants.ts';
import { consumeCode, consumeToken } from '../../shared/auth/email-tokens/consume-tokens.ts';
import { addressKeyOf } from '../../shared/auth/email-tokens/email-token.ts';
import { issueTokens } from '../../shared/auth/email-tokens/issue-tokens.ts';
import { listSessions } from '../../shared/auth/list-sessions.ts';
import { countAttempt, forgiveAttempt } from '../../shared/auth/lockout.ts';
import { rotate, startSession } from '../../shared/auth/refresh-sessions.ts';
import { requireSession } from '../../shared/auth/require-session.ts';
import { revokeAllSessions, revokeByToken } from '../../shared/auth/revoke-sessions.ts';
import { developerScope, projectScope } from '../../shared/auth/session-keys.ts';
import { closeGate, passGate } from '../../shared/auth/users/credential-gate.ts';
import { methodsOf, type RouteTable, type Use } from '../../shared/http/route.ts';
import { removeProjectItems } from '../../shared/projects/project-items.ts';
import { countRequest } from '../../shared/quota/rate-limit.ts';
import { ofType, type Resources, routesOf, type Statement, statementsOf, synthesise } from './synthesis.ts';

/** What a role may do, as `actions on resource, keys`, so that failures can be read. */
const readable = ({ Action, Resource, Condition }: Statement): string => {
  const [resource] = /Log[0-9A-F]{8}|Table|MongodbUri|EncryptionKey|MailProviderKey|Mail[0-9A-F]{8}/.exec(
    JSON.stringify(Resource),
  ) ?? ['?'];
  const keys = /"dynamodb:LeadingKeys":\[([^\]]*)\]/.exec(JSON.stringify(Condition ?? {}))?.[1];
  const actions = [Action].flat().map((action) => action.replace(/^(dynamodb|logs|secretsmanager|sqs):/, ''));
  return `${actions.sort().join(' ')} on ${resource.replace(/^Log.*/, 'its log').replace(/^Mail[0-9A-F]{8}$/, 'the mail queue')}${keys ? ` keys ${keys}` : ''}`;
};

const log = 'CreateLogStream PutLogEvents on its log';
const rate = 'UpdateItem on Table keys "rate#*"';
const sessionActions = 'ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem on Table keys';

const same = (grant: string): Readonly<Record<Sessions, string>> => ({ users: grant, developers: grant });

const granted: Readonly<Record<Use, Readonly<Record<Sessions, string>>>> = {
  mongodb: { users: 'GetSecretValue on MongodbUri', developers: 'GetSecretValue on MongodbUri' },
  encryption: { users: 'GetSecretValue on EncryptionKey', developers: 'GetSecretValue on EncryptionKey' },
  sessions: { users: `${sessionActions} "p#*"`, developers: `${sessionActions} "d#developers"` },
  'user-sessions': same(`${sessionActions} "p#*"`),
  'email-tokens': same('PutItem UpdateItem on Table keys "p#*"'),
  lockouts: { users: 'UpdateItem on Table keys "lock#*"', developers: 'UpdateItem on Table keys "lock#*"' },
  'mail-queue': same('SendMessage on the mail queue'),
  'mail-delivery': same('ChangeMessageVisibility DeleteMessage GetQueueAttributes ReceiveMessage on the mail queue'),
  'mail-provider': same('GetSecretValue on MailProviderKey'),
  purge: { users: 'BatchWriteItem Query on Table keys "p#*"', developers: 'BatchWriteItem Query on Table keys "p#*"' },
};

const { stacks } = synthesise();
const stack = (name: string): Resources => stacks.get(`Basalt-${name}`) ?? new Map();

const grantsOf = (resources: Resources, lambda: Parameters<typeof statementsOf>[1]): readonly string[] =>
  statementsOf(resources, lambda).map(readable).sort();

const rows = (tables: Readonly<Record<string, RouteTable>>, sessions: Sessions) =>
  Object.entries(tables).flatMap(([area, table]) =>
    Object.entries(table).map(([name, row]) => ({ area, name, row, sessions })),
  );

describe('a function may do exactly what its row says it uses', () => {
  test.each([...rows(publicRoutes, 'users'), ...rows(dashboardRoutes, 'developers')])(
    '$area/$name',
    ({ area, row, sessions }) => {
      const resources = stack(areaStackName(area));
      const route = routesOf(resources).find(({ key }) => key === `${methodsOf(row)[0]} ${row.path}`);
      if (!route) throw new Error('There is no such route');
      const expected = [log, rate, ...row.uses.map((use) => granted[use][sessions])];
      expect(grantsOf(resources, route.function)).toEqual(expected.sort());
    },
  );

  test.each(Object.values(jobs))('job: $summary', ({ summary, uses }) => {
    const [job] = [...ofType(stack('Jobs'), 'AWS::Lambda::Function').values()].filter(
      ({ Properties }) => Properties.Description === summary,
    );
    if (!job) throw new Error('There is no such job');
    expect(grantsOf(stack('Jobs'), job)).toEqual([log, ...uses.map((use) => granted[use].users)].sort());
  });

  test('what refuses unknown routes', () => {
    const unknown = routesOf(stack('PublicApi')).find(({ key }) => key === '$default');
    if (!unknown) throw new Error('There is no $default route');
    expect(grantsOf(stack('PublicApi'), unknown.function)).toContain(rate);
  });
});

test('no role names a wildcard resource or action', () => {
  for (const resources of stacks.values()) {
    for (const [id, role] of ofType(resources, 'AWS::IAM::Role')) {
      const statements = JSON.stringify(role.Properties.Policies ?? []);
      const own = !id.startsWith('AWSCDKTrigger');
      expect(own && /"(Action|Resource)":\[?"[^"]*\*/.test(statements), id).toBe(false);
    }
  }
});

describe('every command that the code sends is granted', () => {
  const dynamo = mockClient(DynamoDBClient);
  afterEach(() => dynamo.reset());

  /** `Action key` of every command sent so far; a transaction counts as its parts. */
  const sent = (): readonly string[] =>
    dynamo.calls().flatMap(({ args: [command] }) => {
      const name = command.constructor.name.replace(/Command$/, '');
      const input = JSON.parse(JSON.stringify(command.input)) as Record<string, unknown>;
      const key = (part: unknown): string =>
        /"(?:pk|:scope|:project)":\{"S":"([^"]*)"/.exec(JSON.stringify(part))?.[1] ?? 'none';
      if (name !== 'TransactWriteItems') return `${name} ${key(input)}`;
      const actions = {
        Put: 'PutItem',
        Update: 'UpdateItem',
        Delete: 'DeleteItem',
        ConditionCheck: 'ConditionCheckItem',
      };
      return (input.TransactItems as Record<string, unknown>[]).flatMap((item) =>
        Object.entries(item).map(([kind, part]) => `${actions[kind as keyof typeof actions]} ${key(part)}`),
      );
    });

  const expectGranted = (statement: string): void => {
    const [, actions = '', pattern = ''] = /^(.*) on Table keys "(.*)"$/.exec(statement) ?? [];
    expect(sent()).not.toEqual([]);
    for (const command of sent()) {
      const [action = '', key = ''] = command.split(' ');
      expect(actions.split(' ')).toContain(action);
      expect(
        pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
        `${key} in ${pattern}`,
      ).toBe(true);
    }
  };

  test('counting requests', async () => {
    dynamo.onAnyCommand().resolves({ Attributes: { n_all: { N: '1' } } });
    await countRequest('192.0.2.1', [{ name: 'all', limit: 100 }]);
    expectGranted(rate);
  });

  test.each([
    ['users', projectScope('0123456789abcdef01234567')],
    ['developers', developerScope],
  ] as const)('sessions of %s', async (whose, scope) => {
    const item = { sk: { S: 'session#u1#s1' }, expiresAt: { N: '9999999999' } };
    dynamo.onAnyCommand().resolves({ Items: [item] });
    const { refreshToken } = await startSession(scope, '0123456789abcdef01234567', { ip: '192.0.2.1', userAgent: '' });
    await rotate(scope, refreshToken);
    await listSessions(scope, '0123456789abcdef01234567');
    await revokeAllSessions(scope, '0123456789abcdef01234567');
    await revokeByToken(scope, refreshToken);
    expectGranted(granted.sessions[whose]);
    expect(new Set(sent().map((command) => command.split(' ')[0])).size).toBe(5);
  });

  test('what ends the sessions of a user, and what begins one', async () => {
    dynamo.onAnyCommand().resolves({ Items: [] });
    const scope = projectScope('0123456789abcdef01234567');
    const userId = '0123456789abcdef01234567';
    await closeGate(scope, userId, 1);
    await startSession(scope, userId, { ip: '192.0.2.1', userAgent: '' }, (table) => [
      passGate(table, scope, userId, 1),
    ]);
    await requireSession(scope, userId, userId).catch(() => undefined);
    expectGranted(granted.sessions.users);
    expectGranted(granted['user-sessions'].developers);
    expect(sent().map((command) => command.split(' ')[0])).toContain('ConditionCheckItem');
  });

  test('the tokens of mails', async () => {
    vi.stubEnv('ENCRYPTION_KEY', Buffer.alloc(32, 1).toString('base64'));
    dynamo.onAnyCommand().resolves({ Attributes: {} });
    const place = { projectId: '0123456789abcdef01234567', kind: 'reset', addressKey: addressKeyOf('a@b.co') } as const;
    const { token, code } = await issueTokens(place, 'a@b.co', 'u1');
    await consumeToken(place.projectId, place.kind, token);
    await consumeCode(place, code);
    expectGranted(granted['email-tokens'].users);
    expect(sent()).toHaveLength(3);
  });

  test('lockouts', async () => {
    dynamo.onAnyCommand().resolves({});
    const attempt = { scope: developerScope, address: 'ada@example.com', ip: '192.0.2.1' };
    await countAttempt(attempt);
    await forgiveAttempt(attempt);
    expectGranted(granted.lockouts.users);
  });

  test('removing the items of a project', async () => {
    const key = { pk: { S: 'p#0123456789abcdef01234567' }, sk: { S: 'session#u1#s1' } };
    dynamo.onAnyCommand().resolves({ Items: [key] });
    await removeProjectItems('0123456789abcdef01234567', 1);
    expectGranted(granted.purge.users);
    expect(sent()).toHaveLength(2);
  });
});

describe.each(['users', 'developers'] as const)('behind the API of %s', (sessions) => {
  const stores = {
    table: { tableArn: 'Table', tableName: 'basalt' },
    mongodbSecret: { secretArn: 'MongodbUri' },
    encryptionSecret: { secretArn: 'EncryptionKey' },
    mailProviderSecret: { secretArn: 'MailProviderKey' },
    mailQueue: { queueArn: 'Mail0A1B2C3D', queueUrl: 'https://queue' },
  };

  test.each(Object.keys(granted) as Use[])('%s grants one thing', (use) => {
    const statements = statementsFor([use], stores, sessions).map((statement) => readable(statement.toStatementJson()));
    expect(statements).toEqual([granted[use][sessions]]);
  });
});
