import { describe, expect, test } from 'vitest';
import { consumeTicket, countTicketTry, secondFactorRequired } from '../../../shared/accounts/second-factor.ts';
import { consumeSecret, issueSecret, type SecretKind } from '../../../shared/accounts/single-use-secrets.ts';
import { itemKey, projectScope } from '../../../shared/persistence/item-keys.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time } = useMemoryTable();
const scope = projectScope('a'.repeat(24));
const other = projectScope('c'.repeat(24));
const first = { userId: 'b'.repeat(24), version: 3, amr: ['pwd', 'mfa'] };
const issue = async (): Promise<string> => (await secondFactorRequired(scope, first)).ticket ?? '';

describe('the ticket of a sign-in that needs a second factor', () => {
  test('returns how the account proved the first factor, for 5 attempts', async () => {
    const ticket = await issue();
    for (let left = 5; left > 0; left--) expect(await countTicketTry(scope, ticket)).toEqual(first);
    expect(await countTicketTry(scope, ticket)).toBeUndefined();
    expect(await countTicketTry(scope, await issue())).toEqual(first);
  });

  test('is consumed one time, and has no attempts afterwards', async () => {
    const ticket = await issue();
    expect(await consumeTicket(scope, ticket)).toBe(true);
    expect(await consumeTicket(scope, ticket)).toBe(false);
    expect(await countTicketTry(scope, ticket)).toBeUndefined();
  });

  test('expires after 5 minutes', async () => {
    const ticket = await issue();
    time.now += 299_000;
    expect(await countTicketTry(scope, ticket)).toEqual(first);
    time.now += 1000;
    expect(await countTicketTry(scope, ticket)).toBeUndefined();
    expect(await consumeTicket(scope, ticket)).toBe(false);
  });

  test('is of one project, and others are unknown', async () => {
    const ticket = await issue();
    expect(await countTicketTry(other, ticket)).toBeUndefined();
    expect(await consumeTicket(other, ticket)).toBe(false);
    expect(await countTicketTry(scope, 'a'.repeat(43))).toBeUndefined();
    expect(await countTicketTry(scope, 'malformed')).toBeUndefined();
  });
});

describe('a secret', () => {
  const kind: SecretKind = { keyOf: (own, hash) => itemKey(kinds.ticket, own, { hash }), seconds: 60 };

  test('is consumed only for the values that it stands for', async () => {
    const secret = await issueSecret(kind, scope, { page: 'a' });
    expect(await consumeSecret(kind, scope, secret, { page: 'b' })).toBeUndefined();
    expect(await consumeSecret(kind, scope, secret, { page: undefined })).toBeUndefined();
    expect(await consumeSecret(kind, scope, secret, { other: 'a' })).toBeUndefined();
    expect(await consumeSecret(kind, scope, secret, { page: 'a', other: undefined })).toMatchObject({ page: 'a' });
  });

  test('that is issued again after its use stays used', async () => {
    const secret = await issueSecret(kind, scope, {});
    expect(await consumeSecret(kind, scope, secret)).toBeDefined();
    await issueSecret(kind, scope, {}, secret);
    expect(await consumeSecret(kind, scope, secret)).toBeUndefined();
  });
});
