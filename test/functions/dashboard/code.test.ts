import { describe, expect, inject, test } from 'vitest';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, linkIn, mailAbout, mailsTo, tokenIn } from '../../support/clients/inbox.ts';
import { auth, type DashboardSignIn, guardDeveloper, logIn, refresh } from '../../support/fixtures/developers.ts';
import { idOf, newPersonalToken } from '../../support/fixtures/members.ts';
import { newDeveloper, newUnverified } from '../../support/fixtures/project.ts';
import { claimsOf, newCredentials } from '../../support/fixtures/users.ts';

const subject = /code to sign in to Basalt/;
const invalid = { status: 400, body: { code: 'INVALID_CODE' }, cookies: [] };

const send = (email: string) => auth('POST', 'code', { body: { email } });
const verify = (body: object) => auth<DashboardSignIn>('POST', 'code/verify', { body });

/** Issues the token and code of an email to an address, whether or not it has an account. */
const issue = (email: string, developerId: string) =>
  issueTokens({ scope: developerScope, kind: 'code', addressKey: addressKeyOf(email) }, email, developerId);

describe('a developer who signs in by code', () => {
  test('200 by the code of the email, whose link leads to the console; it works once, and the password stays', async () => {
    const { email, password } = await newDeveloper();
    expect(await send(` ${email.toUpperCase()} `)).toMatchObject({ status: 200, body: { success: true } });
    const mail = await mailAbout(email, subject);
    expect(linkIn(mail).href).toBe(`${inject('stack').dashboardUrl}/auth/code?token=${tokenIn(mail)}`);
    const answer = await verify({ email, code: codeIn(mail).toLowerCase() });
    expect(answer).toMatchObject({ status: 200, body: { data: { developer: { email, emailVerified: true } } } });
    expect(claimsOf(answer.body.data.accessToken).amr).toEqual(['email']);
    expect((await refresh(cookieOf(answer))).status).toBe(200);
    expect(await verify({ email, code: codeIn(mail) })).toMatchObject(invalid);
    expect(await verify({ token: tokenIn(mail) })).toMatchObject(invalid);
    expect((await logIn(email, password)).status).toBe(200);
  });

  test('200 for 50 requests with one email; an address without an account gets no email and no account', async () => {
    const { email } = await newDeveloper();
    const nobody = newCredentials().email;
    expect(tally(await inParallel(50, () => send(email)))).toEqual({ 200: 50 });
    expect((await send(nobody)).body).toMatchObject({ message: (await send(email)).body.message });
    const other = await newDeveloper();
    await send(other.email);
    await mailAbout(other.email, subject);
    expect((await mailsTo(email)).filter((mail) => subject.test(mail.subject))).toHaveLength(1);
    expect(await mailsTo(nobody)).toEqual([]);
    const { token } = await issue(nobody, await idOf(other));
    expect(await verify({ token })).toMatchObject(invalid);
    expect(await onControl((db) => db.collection('developers').countDocuments({ email: nobody }))).toBe(0);
  });

  test('200 for the owner of an address, and the access of a person who registered it before ends', async () => {
    const squatter = await newUnverified();
    const { token: script } = await newPersonalToken(squatter, ['account:read']);
    const session = cookieOf(await logIn(squatter.email, squatter.password));
    const { token } = await issue(squatter.email, await idOf(squatter));
    expect(await verify({ token })).toMatchObject({
      status: 200,
      body: { data: { developer: { email: squatter.email, emailVerified: true } } },
    });
    expect((await logIn(squatter.email, squatter.password)).status).toBe(401);
    expect((await refresh(session)).status).toBe(401);
    expect((await auth('GET', 'me', { token: script })).status).toBe(401);
  });

  test('401 SECOND_FACTOR_REQUIRED when the developer has an authenticator app, and the code is used up', async () => {
    const { email, token } = await newDeveloper();
    const { recoveryCodes } = await guardDeveloper(token);
    const issued = await issue(email, String(claimsOf(token).sub));
    const refused = await auth<{ ticket: string }>('POST', 'code/verify', { body: { token: issued.token } });
    expect(refused).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' }, cookies: [] });
    expect(await verify({ token: issued.token })).toMatchObject(invalid);
    const proof = { ticket: refused.body.ticket, recoveryCode: recoveryCodes[0] };
    const answer = await auth<DashboardSignIn>('POST', 'second-factor/verify', { body: proof });
    expect(claimsOf(answer.body.data.accessToken).amr).toEqual(['email', 'recovery', 'mfa']);
  });

  test('400 VALIDATION_FAILED with the missing field', async () => {
    const errorsOf = async (body: object) => (await verify(body)).body;
    expect(await errorsOf({})).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'token' }] });
    expect(await errorsOf({ email: 'a@example.com' })).toMatchObject({ errors: [{ field: 'code' }] });
    expect(await errorsOf({ code: 'AAAA-AAAA' })).toMatchObject({ errors: [{ field: 'email' }] });
    expect(await send('no address')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});
