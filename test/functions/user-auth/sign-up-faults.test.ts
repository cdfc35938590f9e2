import type { TransactWriteItemsInput } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as signUpDeveloper } from '../../../functions/dashboard/auth/sign-up-developer.ts';
import { handler as signUp } from '../../../functions/user-auth/sign-up.ts';
import { listSessions, type SessionScope } from '../../../shared/accounts/sessions.ts';
import { developerScope, projectScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { answerForAws, tableError } from '../../support/faults/aws-answers.ts';
import { storedUsers } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

Object.assign(process.env, { RATE_LIMIT: '0' });

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Ids of accounts whose sessions are opened; with `fails` the table rejects them. */
const watchSessions = (fails: boolean): string[] => {
  const openedFor: string[] = [];
  answerForAws((asked, send) => {
    if (asked.operation !== 'TransactWriteItems') return send(asked);
    const { TransactItems: [{ Put } = {}] = [] } = asked.input as Partial<TransactWriteItemsInput>;
    openedFor.push(Put?.Item?.sk?.S?.split('#')[1] ?? '');
    if (fails) throw tableError('InternalServerError');
    return send(asked);
  });
  return openedFor;
};

const asUser = (body: unknown) => invoke(signUp, { key: project.publishableKey, body });
const asDeveloper = (body: unknown) => invoke(signUpDeveloper, { body });

describe.each([
  ['a sign-up', asUser, (): SessionScope => projectScope(project.id), 'USER_EXISTS'],
  ['a registration', asDeveloper, (): SessionScope => developerScope, 'DEVELOPER_EXISTS'],
] as const)('%s', (_what, ask, scope, taken) => {
  const accountsOf = async (email: string): Promise<number> =>
    ask === asUser
      ? (await storedUsers(project, { email })).length
      : onControl((db) => db.collection('developers').countDocuments({ email }));

  test('503 without an account when the session cannot be stored, and 201 the next time', async () => {
    const credentials = newCredentials();
    watchSessions(true);
    expect(await ask(credentials)).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(await accountsOf(credentials.email)).toBe(0);
    vi.restoreAllMocks();
    expect((await ask(credentials)).status).toBe(201);
    expect(await accountsOf(credentials.email)).toBe(1);
  });

  test('409 without a session when the address is taken', async () => {
    const credentials = newCredentials();
    expect((await ask(credentials)).status).toBe(201);
    const openedFor = watchSessions(false);
    expect(await ask(credentials)).toMatchObject({ status: 409, body: { code: taken } });
    vi.restoreAllMocks();
    expect(openedFor).toHaveLength(1);
    expect(await listSessions(scope(), openedFor[0] ?? '')).toEqual([]);
  });
});
