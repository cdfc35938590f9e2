import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { discardCredentials } from '../../../shared/accounts/credentials.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const newPassword = 'another password';
const invalidToken = { status: 401, body: { code: 'TOKEN_INVALID' } };
const invalidProof = { status: 400, body: { code: 'INVALID_EMAIL_TOKEN' } };

describe('a user whom an import left in the trash is invisible to every route', () => {
  test('401, 404 and 400; the record stays unchanged', async () => {
    const username = crypto.randomUUID();
    const user = await project.newUser({ username });
    const { email, token, userId } = user;
    const scope = projectScope(project.id);
    const proofFor = async (kind: 'verify' | 'reset', address: string) =>
      (await issueTokens({ scope, kind, addressKey: addressKeyOf(address) }, email, userId)).token;
    // Addresses differ because one email per minute is sent; the token contains the user.
    const proofs = { reset: await proofFor('reset', email), verify: await proofFor('verify', `x${email}`) };
    await changeStoredUsers(project, { email }, { isDeleted: true });
    const [before] = await storedUsers(project, { email });
    expect(await project.logIn(user)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    expect(await project.auth('GET', 'me', { token })).toMatchObject(invalidToken);
    const profile = { token, body: { name: 'Bea' } };
    expect(await project.auth('PUT', 'update-profile', profile)).toMatchObject(invalidToken);
    const change = { token, body: { currentPassword: user.password, newPassword } };
    expect(await project.auth('PUT', 'change-password', change)).toMatchObject(invalidToken);
    expect(await project.auth('GET', `public/${username}`)).toMatchObject({ status: 404 });
    const reset = { body: { token: proofs.reset, newPassword } };
    expect(await project.auth('POST', 'reset-password', reset)).toMatchObject(invalidProof);
    const verify = { body: { token: proofs.verify } };
    expect(await project.auth('POST', 'verify-email', verify)).toMatchObject(invalidProof);
    expect(await discardCredentials(userAccounts(await domainProject(project)), new ObjectId(userId))).toBeUndefined();
    const path = `/api/projects/${project.id}/users/${userId}`;
    expect(await project.developer.dashboard('PATCH', path, { name: 'Cy' })).toMatchObject({ status: 404 });
    expect(await storedUsers(project, { email })).toEqual([before]);
  });
});

describe('a user who was imported without service fields', () => {
  test('200 for one of two password changes based on the same record', async () => {
    const user = await project.newUser();
    const { email, token } = user;
    await onManaged(await domainProject(project), (db) =>
      db
        .collection('users')
        .updateOne({ email }, { $unset: { credentialVersion: '', hasPassword: '', emailVerified: '' } }),
    );
    const body = { currentPassword: user.password, newPassword };
    expect(await project.auth('PUT', 'change-password', { token, body })).toMatchObject({ status: 200 });
    expect(await project.logIn({ email, password: newPassword })).toMatchObject({ status: 200 });
    expect(await project.auth('PUT', 'change-password', { token, body })).toMatchObject({ status: 401 });
  });
});
