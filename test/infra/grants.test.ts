import { afterEach, describe, expect, test, vi } from 'vitest';
import { dashboardRoutes } from '../../functions/routes.ts';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { type Permission, type Sessions, statementsFor } from '../../infra/stacks/grants.ts';
import { verifiersOf } from '../../infra/stacks/verifiers.ts';
import { countAccountMail } from '../../shared/accounts/account-mail.ts';
import { raiseCredentialVersion, requireCredentialVersion } from '../../shared/accounts/credentials.ts';
import {
  addressKeyOf,
  consumeCode,
  consumeToken,
  countChangeMail,
  endCooldown,
  issueTokens,
  tokenItemKey,
} from '../../shared/accounts/email-tokens.ts';
import { clearFailures, startProof, startSignIn } from '../../shared/accounts/lockout.ts';
import { rotate, startSession } from '../../shared/accounts/refresh-sessions.ts';
import {
  listSessions,
  requireSession,
  requireUserSession,
  revokeAllSessions,
  revokeSession,
  signOut,
} from '../../shared/accounts/sessions.ts';
import { AppError } from '../../shared/core/errors.ts';
import { methodsOf } from '../../shared/http/route.ts';
import { mailUsage, refundQuota, reserveQuota } from '../../shared/mail/quota.ts';
import { countInvitation } from '../../shared/members/invitations.ts';
import { refund } from '../../shared/persistence/counters.ts';
import { acquireKey, endWithoutResponse, keyedRequest, storeResponse } from '../../shared/persistence/idempotency.ts';
import { developerScope, projectScope } from '../../shared/persistence/item-keys.ts';
import { restoreItem } from '../../shared/persistence/single-use.ts';
import { removeProjectItems, removeUserItems } from '../../shared/projects/items.ts';
import { countRequest } from '../../shared/rate-limit/rate-limit.ts';
import { countProposal } from '../../shared/usage/assistant.ts';
import { listRefusals } from '../../shared/usage/list-rejected.ts';
import { logRejected } from '../../shared/usage/rejected-requests.ts';
import { loadStats } from '../../shared/usage/requests.ts';
import { countUsage, flushTally } from '../../shared/usage/tally.ts';
import { type Asked, answerForAws } from '../support/faults/aws-answers.ts';
import { newOwnerKey } from '../support/fixtures/owner.ts';
import { jobPermissions, routePermissions } from './all-permissions.ts';
import {
  everything,
  type Json,
  ofType,
  type Resource,
  type Resources,
  routesOf,
  type Statement,
  statementsOf,
  synthesise,
} from './synthesis.ts';

/** The folders of the files' bucket, if a grant names only the bucket and its folders. */
const foldersIn = (resource: string): string => {
  const bucket =
    /FilesArn|"Files[0-9A-F]{8}","Arn"|"[^"]*:ExportsOutputFnGetAttFiles[0-9A-F]{8}Arn[0-9A-F]{8}"/.exec(
      resource,
    )?.[0] ?? '?';
  const folders = [...resource.matchAll(/"(?:FilesArn)?\/([a-z]+)\/\*"/g)].map(([, folder]) => folder);
  const named = resource.split(bucket).length - 1;
  return named === folders.length + 1 ? `the bucket and its ${folders.join(', ')}` : '?';
};

/** True if a grant names only the two verifiers. */
const verifiersIn = (resource: string): string | undefined => {
  const named = [...resource.matchAll(/:function:Basalt-verify-database-(?:a|b)"/g)].length;
  return named === 2 && resource.split(':function:').length === 3 ? 'both verifiers' : undefined;
};

/** True if a grant is for CloudFront's keys, which cannot be limited by name. */
const keyGroupsIn = (action: Statement['Action'], resource: Statement['Resource']): string | undefined =>
  resource === '*' && [action].flat().every((one) => /^cloudfront:\w*(PublicKey|KeyGroup)/.test(String(one)))
    ? 'every key group'
    : undefined;

/** True if a grant names only the namespace of channels. */
const channelsIn = (resource: string): string | undefined =>
  /^(?:"ChannelsArn"|\{"Fn::Join":\["",\[\{"Fn::ImportValue":"[^"]*Realtime[^"]*"\},"\/channelNamespace\/live"\]\]\})$/.test(
    resource,
  )
    ? 'the channels of live updates'
    : undefined;

/** True if a grant names only the bucket and the queues. */
const healthIn = (resource: string): string | undefined => {
  const names =
    /"FilesArn"|"(?:Mail|Work|Webhook)[0-9A-F]{8}"|ExportsOutputFnGetAtt(?:Files|Mail|Work|Webhook)[0-9A-F]{8}Arn/g;
  const kinds = (resource.match(names) ?? []).map((name) => /Files|Mail|Work|Webhook/.exec(name)?.[0]);
  return kinds.join() === 'Files,Mail,Work,Webhook' ? 'the bucket and the queues' : undefined;
};

/**
 * The keys that a grant is for: every key of a command has to be among them, and not one alone, as a transaction has
 * several. Any other condition is shown as it is.
 */
const keysIn = (condition: Json | undefined): string | undefined => {
  if (condition === undefined) return;
  const text = JSON.stringify(condition);
  return /^\{"ForAllValues:StringLike":\{"dynamodb:LeadingKeys":\[([^\]]*)\]\}\}$/.exec(text)?.[1] ?? `by ${text}`;
};

/** The permissions of a role as readable lines: `actions on resource, keys`. */
const readable = ({ Action, Resource, Condition }: Statement): string => {
  const health = healthIn(JSON.stringify(Resource));
  const [resource = '?'] = (health && [health]) ??
    /Log[0-9A-F]{8}|Table|MongodbUri|EncryptionKey|MailProviderKey|MailWebhookSecret|LanguageModelKey|DashboardGithubSecret|(?:Mail|Work|Webhook)[0-9A-F]{8}/.exec(
      JSON.stringify(Resource),
    ) ?? [
      keyGroupsIn(Action, Resource) ??
        verifiersIn(JSON.stringify(Resource)) ??
        channelsIn(JSON.stringify(Resource)) ??
        foldersIn(JSON.stringify(Resource)),
    ];
  const keys = keysIn(Condition);
  const actions = [Action]
    .flat()
    .map((action) => action.replace(/^(appsync|cloudfront|dynamodb|lambda|logs|s3|secretsmanager|sqs):/, ''));
  return `${actions.sort().join(' ')} on ${resource.replace(/^Log.*/, 'its log').replace(/^(Mail|Work|Webhook)[0-9A-F]{8}$/, (_, queue: string) => `the ${queue.toLowerCase()} queue`)}${keys ? ` keys ${keys}` : ''}`;
};

const log = 'CreateLogStream PutLogEvents on its log';
const rate = 'UpdateItem on Table keys "rate#*","stats#*"';
const sessionActions = 'ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem on Table keys';

const same = (grant: string): Readonly<Record<Sessions, string>> => ({ users: grant, developers: grant });

const granted: Readonly<Record<Permission, Readonly<Record<Sessions, string>>>> = {
  mongodb: { users: 'GetSecretValue on MongodbUri', developers: 'GetSecretValue on MongodbUri' },
  nudges: same('EventPublish on the channels of live updates'),
  repeats: same('UpdateItem on Table keys "p#*"'),
  answers: same('DeleteObject GetObject ListBucket PutObject on the bucket and its answers'),
  encryption: { users: 'GetSecretValue on EncryptionKey', developers: 'GetSecretValue on EncryptionKey' },
  sessions: { users: `${sessionActions} "p#*"`, developers: `${sessionActions} "d#developers"` },
  'user-sessions': same(`${sessionActions} "p#*"`),
  'developer-sessions': same(`${sessionActions} "d#developers"`),
  'strict-sessions': same('GetItem on Table keys "p#*"'),
  'session-check': same('GetItem on Table keys "d#developers"'),
  'dashboard-github': same('GetSecretValue on DashboardGithubSecret'),
  'email-tokens': {
    users: 'PutItem UpdateItem on Table keys "p#*","o#*"',
    developers: 'PutItem UpdateItem on Table keys "d#developers"',
  },
  lockouts: { users: 'UpdateItem on Table keys "lock#*"', developers: 'UpdateItem on Table keys "lock#*"' },
  verifiers: same('InvokeFunction on both verifiers'),
  'work-queue': same('SendMessage on the work queue'),
  'work-delivery': same('ChangeMessageVisibility DeleteMessage GetQueueAttributes ReceiveMessage on the work queue'),
  'webhook-queue': same('SendMessage on the webhook queue'),
  'webhook-delivery': same(
    'ChangeMessageVisibility DeleteMessage GetQueueAttributes ReceiveMessage on the webhook queue',
  ),
  'mail-queue': same('SendMessage on the mail queue'),
  'mail-delivery': same('ChangeMessageVisibility DeleteMessage GetQueueAttributes ReceiveMessage on the mail queue'),
  'mail-quota': same('GetItem UpdateItem on Table keys "p#*","o#*","service"'),
  'mail-provider': same('GetSecretValue on MailProviderKey'),
  'mail-webhook': same('GetSecretValue on MailWebhookSecret'),
  'language-model': same('GetSecretValue on LanguageModelKey'),
  'language-model-quota': same('UpdateItem on Table keys "o#*"'),
  usage: same('GetItem on Table keys "p#*","stats#*"'),
  rejections: same('GetItem Query on Table keys "stats#*"'),
  'rejection-writing': same('UpdateItem on Table keys "stats#*"'),
  health: same('GetQueueAttributes ListBucket on the bucket and the queues'),
  files: same('DeleteObject GetObject ListBucket PutObject on the bucket and its pending, files, private'),
  'file-links': same('Query on Table keys "service"'),
  'link-keys': same('DeleteItem PutItem on Table keys "service"'),
  'key-group': same(
    'CreatePublicKey DeletePublicKey GetKeyGroup GetPublicKeyConfig ListPublicKeys UpdateKeyGroup on every key group',
  ),
  transfers: same(
    'AbortMultipartUpload DeleteObject GetObject ListBucket PutObject on the bucket and its exports, imports',
  ),
  uploads: same(`${sessionActions} "p#*","due#uploads#*"`),
  purge: same('BatchWriteItem Query on Table keys "p#*","stats#*"'),
};

const { stacks } = synthesise();
const stack = (name: string): Resources => stacks.get(`Basalt-${name}`) ?? new Map();

const grantsOf = (resources: Resources, lambda: Parameters<typeof statementsOf>[1]): readonly string[] =>
  statementsOf(resources, lambda).map(readable).sort();

const routes = routePermissions.filter(({ area }) => area !== 'default');

describe('role of a function has exactly its permissions', () => {
  test.each(routes)('$area/$id', ({ area, route, permissions }) => {
    const resources = stack(areaStackName(area));
    const deployed = routesOf(resources).find(({ key }) => key === `${methodsOf(route)[0]} ${route.path}`);
    if (!deployed) throw new Error('There is no such route');
    const sessions = area in dashboardRoutes ? 'developers' : 'users';
    const expected = [log, rate, ...permissions.map((permission) => granted[permission][sessions])];
    expect(grantsOf(resources, deployed.function)).toEqual(expected.sort());
  });

  test.each(jobPermissions.filter(({ job }) => job.starts !== 'by browsers'))(
    'job $id',
    ({ job: { starts, summary }, permissions }) => {
      const place = stack(starts === 'by the origin of files' ? 'Files' : 'Jobs');
      const [made] = [...ofType(place, 'AWS::Lambda::Function').values()].filter(
        ({ Properties }) => Properties.Description === summary,
      );
      if (!made) throw new Error('There is no such job');
      // Jobs cannot publish: live updates are deployed after them.
      const held = permissions.filter((permission) => permission !== 'nudges');
      const expected = [log, ...held.map((permission) => granted[permission].users)];
      expect(grantsOf(place, made)).toEqual(expected.sort());
    },
  );

  test('of unknown routes', () => {
    const unknown = routesOf(stack('PublicApi')).find(({ key }) => key === '$default');
    if (!unknown) throw new Error('There is no $default route');
    expect(grantsOf(stack('PublicApi'), unknown.function)).toContain(rate);
  });
});

describe('policies are as narrow as possible', () => {
  /** Resources that may end with an asterisk: the objects of a folder. */
  const narrow = /"\/(?:pending|files|private|exports|imports|answers)\/\*"/g;

  type Document = { readonly Statement: readonly Statement[] };
  const statementsIn = ({ Policies = [], PolicyDocument }: Resource['Properties']): readonly Statement[] =>
    [PolicyDocument, ...(Policies as readonly Record<string, Json>[]).map((policy) => policy.PolicyDocument)]
      .filter((document) => document !== undefined)
      .flatMap((document) => (document as unknown as Document).Statement);

  test.each([...stacks])('in every role of %s', (_name, resources) => {
    const roles = [...ofType(resources, 'AWS::IAM::Role'), ...ofType(resources, 'AWS::IAM::Policy')].filter(
      ([id]) => !id.startsWith('AWSCDKTrigger'),
    );
    for (const [id, { Properties }] of roles) {
      expect(statementsIn(Properties).length, id).toBeGreaterThan(0);
      for (const { Action, Resource: resource } of statementsIn(Properties)) {
        expect(JSON.stringify(Action), id).not.toContain('*');
        if (keyGroupsIn(Action, resource)) continue;
        expect(JSON.stringify(resource).replace(narrow, ''), id).not.toContain('*');
      }
    }
  });

  test('with fixed addresses, except network interfaces, which the code itself is denied', () => {
    const resources = synthesise(everything).stacks.get('Staging-Routes-data') ?? new Map();
    const [route] = routesOf(resources);
    if (!route) throw new Error('There is no route');
    const network = statementsOf(resources, route.function)
      .filter(({ Action }) => JSON.stringify(Action).includes('ec2:'))
      .map(({ Effect, Action, Condition }) => [Effect, [Action].flat().length, Condition]);
    expect(network).toEqual([
      ['Allow', 4, undefined],
      ['Allow', 2, undefined],
      ['Deny', 6, { Null: { 'lambda:SourceFunctionArn': 'false' } }],
    ]);
  });
});

describe('every command that the code sends is granted', () => {
  /** The requests since `answerWith` was called. */
  let asked: readonly Asked[];
  const answerWith = (...answers: readonly object[]): void => {
    vi.restoreAllMocks();
    const left = [...answers];
    asked = answerForAws(({ operation }) => (left.length > 1 && operation === 'Query' ? left.shift() : left.at(-1)));
  };
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** `Action key` of every command sent so far; a transaction counts as its parts. */
  const sent = (): readonly string[] =>
    asked.flatMap(({ operation: name, input }) => {
      const key = (part: unknown): string => /":?pk":\{"S":"([^"]*)"/.exec(JSON.stringify(part))?.[1] ?? 'none';
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
    const [, actions = '', keys = ''] = /^(.*) on Table keys (.*)$/.exec(statement) ?? [];
    const patterns = JSON.parse(`[${keys}]`) as string[];
    const covers = (pattern: string, key: string): boolean =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
    expect(sent()).not.toEqual([]);
    for (const command of sent()) {
      const [action = '', key = ''] = command.split(' ');
      expect(actions.split(' ')).toContain(action);
      expect(
        patterns.some((pattern) => covers(pattern, key)),
        `${key} in ${keys}`,
      ).toBe(true);
    }
  };

  test('counting requests', async () => {
    answerWith({ Attributes: { n_all: { N: '1' } } });
    await countRequest('192.0.2.1', [{ name: 'all', limit: 100, block: 1 }]);
    expectGranted(rate);
  });

  test.each([
    ['users', projectScope('0123456789abcdef01234567')],
    ['developers', developerScope],
  ] as const)('sessions of %s', async (whose, scope) => {
    const item = { sk: { S: 'session#u1#s1' }, expiresAt: { N: '9999999999' } };
    answerWith({ Items: [item] });
    const client = { ip: '192.0.2.1', userAgent: '' };
    const { refreshToken } = await startSession(scope, '0123456789abcdef01234567', client);
    await rotate(scope, refreshToken, client);
    await listSessions(scope, '0123456789abcdef01234567');
    await revokeAllSessions(scope, '0123456789abcdef01234567');
    await signOut(scope, refreshToken);
    expectGranted(granted.sessions[whose]);
    expect(new Set(sent().map((command) => command.split(' ')[0])).size).toBe(5);
  });

  test('ending the sessions of a user, and starting one', async () => {
    answerWith({ Items: [] });
    const scope = projectScope('0123456789abcdef01234567');
    const userId = '0123456789abcdef01234567';
    await raiseCredentialVersion(scope, userId, 1);
    await startSession(scope, userId, { ip: '192.0.2.1', userAgent: '' }, [requireCredentialVersion(scope, userId, 1)]);
    await revokeSession(scope, { userId, sessionId: userId }, 'f'.repeat(24));
    await requireSession(scope, userId, userId).catch(() => undefined);
    expectGranted(granted.sessions.users);
    expectGranted(granted['user-sessions'].developers);
    expect(sent().map((command) => command.split(' ')[0])).toContain('ConditionCheckItem');
  });

  test('checking the session of a developer', async () => {
    answerWith({});
    await requireSession(developerScope, '0123456789abcdef01234567', 's1').catch(() => undefined);
    expectGranted(granted['session-check'].developers);
  });

  test('checking the session of a user before a write', async () => {
    answerWith({});
    const userId = '0123456789abcdef01234567';
    await requireUserSession(userId, { userId, sessionId: userId }).catch(() => undefined);
    expectGranted(granted['strict-sessions'].users);
  });

  test('counting the proposals of the schema assistant', async () => {
    answerWith({});
    await refund(await countProposal({ id: '0123456789abcdef01234567', plan: 'free', ownerKey: newOwnerKey() }));
    expectGranted(granted['language-model-quota'].users);
    expect(sent()).toHaveLength(2);
  });

  test('tokens of emails', async () => {
    vi.stubEnv('ENCRYPTION_KEY', Buffer.alloc(32, 1).toString('base64'));
    answerWith({ Attributes: {} });
    const place = {
      scope: projectScope('0123456789abcdef01234567'),
      kind: 'reset',
      addressKey: addressKeyOf('a@b.co'),
    } as const;
    const { token, code } = await issueTokens(place, 'a@b.co', 'u1');
    await consumeToken(place.scope, place.kind, token, { ip: '192.0.2.1' });
    await consumeCode(place, code, { ip: '192.0.2.1' });
    await countChangeMail(place.scope, 'a@b.co');
    expectGranted(granted['email-tokens'].users);
    expect(sent()).toHaveLength(4);
  });

  test('limiting account emails and uses of tokens', async () => {
    answerWith({});
    const project = { id: '0123456789abcdef01234567', plan: 'free' as const, ownerKey: newOwnerKey() };
    await countAccountMail(project, { toNobody: false });
    const place = { scope: projectScope(project.id), kind: 'reset', addressKey: addressKeyOf('a@b.co') } as const;
    await endCooldown(place, 'none');
    await restoreItem({ key: tokenItemKey(place), id: 'use' });
    expectGranted(granted['email-tokens'].users);
    expect(sent()).toHaveLength(3);
  });

  test('limiting invitations', async () => {
    answerWith({});
    const uncount = await countInvitation('grace@example.com', 'ada@example.com');
    await uncount();
    expectGranted(granted['email-tokens'].developers);
    expect(sent()).toHaveLength(6);
  });

  test('lockouts', async () => {
    answerWith({});
    const attempt = { scope: developerScope, address: 'ada@example.com', ip: '192.0.2.1' };
    for (const started of [await startSignIn(attempt), await startProof('a', attempt)]) {
      await started.succeed();
      await started.fail();
      await started.cancel();
    }
    await clearFailures(attempt);
    expectGranted(granted.lockouts.users);
  });

  test('counting requests for the statistics, and reading them', async () => {
    answerWith({});
    const projectId = '0123456789abcdef01234567';
    countUsage({ projectId, route: 'list-documents', status: 200, ms: 5 });
    await flushTally();
    expectGranted(rate);
    answerWith({});
    await loadStats('requests', projectId, '2026-01-01');
    expectGranted(granted.usage.developers);
  });

  test('logging rejected requests, and reading the log', async () => {
    answerWith({});
    const projectId = '0123456789abcdef01234567';
    await logRejected({
      ...{ projectId, method: 'GET', path: '/api/data/{collectionName}', key: 'secret', userId: undefined },
      ...{ address: '192.0.2.1', requestId: 'test', collection: undefined, sent: () => [] },
      error: new AppError('RULE_DENIED', 'The rules do not allow it.'),
    });
    expectGranted(rate);
    answerWith({});
    await listRefusals(projectId, { page: 1, limit: 10 });
    expectGranted(granted.rejections.developers);
  });

  test('reading the number of emails of a project', async () => {
    answerWith({});
    await mailUsage({ id: '0123456789abcdef01234567', plan: 'free' } as Parameters<typeof mailUsage>[0]);
    expectGranted(granted['mail-quota'].users);
    expectGranted(granted.usage.developers);
  });

  test('reserving email quota of project, owner and service', async () => {
    answerWith({});
    const id = '0123456789abcdef01234567';
    const shared = { owner: newOwnerKey(), recipients: { [id]: 3 } };
    const taken = await reserveQuota({ id, plan: 'free' }, [id], { shared });
    if (taken.taken) await refundQuota(taken.slots);
    expectGranted(granted['mail-quota'].users);
    expectGranted(granted['mail-quota'].developers);
    expect(sent()).toHaveLength(6);
  });

  test('idempotency keys and stored responses', async () => {
    answerWith({});
    const state = await acquireKey('0123456789abcdef01234567', keyedRequest('secret', 'key', ['POST']), true);
    if (state.kind !== 'acquired') throw new Error('The key was free');
    await storeResponse(state.run, { statusCode: 200, headers: {}, body: '{}' });
    await endWithoutResponse(state.run, false);
    expectGranted(granted.repeats.users);
    expect(sent()).toHaveLength(3);
  });

  test('removing the items of a project', async () => {
    const key = { pk: { S: 'p#0123456789abcdef01234567' }, sk: { S: 'session#u1#s1' } };
    const remove = async (act: typeof removeProjectItems, ranges: number): Promise<void> => {
      answerWith({ Items: [key] }, { Items: [] });
      expect(await act('0123456789abcdef01234567', 1000)).toEqual({ removed: 1, complete: true });
      expectGranted(granted.purge.users);
      expect(sent()).toHaveLength(ranges + 2);
    };
    await remove(removeProjectItems, 2);
    await remove(removeUserItems, 5);
  });
});

describe.each(['users', 'developers'] as const)('permissions behind the API of %s', (sessions) => {
  const stores = {
    table: { tableArn: 'Table', tableName: 'basalt' },
    mongodbSecret: { secretArn: 'MongodbUri' },
    encryptionSecret: { secretArn: 'EncryptionKey' },
    mailProviderSecret: { secretArn: 'MailProviderKey' },
    mailWebhookSecret: { secretArn: 'MailWebhookSecret' },
    dashboardGithubSecret: { secretArn: 'DashboardGithubSecret' },
    languageModelSecret: { secretArn: 'LanguageModelKey' },
    languageModel: { aiBaseUrl: undefined, aiModel: undefined },
    mailQueue: { queueArn: 'Mail0A1B2C3D', queueUrl: 'https://queue' },
    webhookQueue: { queueArn: 'Webhook0A1B2C3D', queueUrl: 'https://queue' },
    workQueue: { queueArn: 'Work0A1B2C3D', queueUrl: 'https://queue' },
    verifiers: verifiersOf('Basalt'),
    files: { bucketArn: 'FilesArn', bucketName: 'files', url: 'https://files', keyGroup: 'group', keyPrefix: 'Basalt' },
    nudges: { namespaceArn: 'ChannelsArn', url: 'https://events/event' },
  };

  test.each(Object.keys(granted) as Permission[])('%s grants one thing', (use) => {
    const statements = statementsFor([use], stores, sessions).map((statement) => readable(statement.toStatementJson()));
    expect(statements).toEqual([granted[use][sessions]]);
  });
});
