import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  addressKeyOf,
  consumeCode,
  consumeToken,
  countChangeMail,
  endCooldown,
  issueTokens,
  type TokenItem,
  type TokenPlace,
  tokenItemKey,
} from '../../../shared/accounts/email-tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { developerScope, projectScope } from '../../../shared/persistence/item-keys.ts';
import { get } from '../../../shared/persistence/table.ts';
import { inParallel } from '../../support/clients/client.ts';

const hex = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 24);

let email: string;
let place: TokenPlace;

beforeEach(() => {
  email = `${hex()}@example.com`;
  place = { scope: projectScope(hex()), kind: 'reset', addressKey: addressKeyOf(email) };
});

afterEach(() => {
  vi.restoreAllMocks();
});

const here = { ip: '192.0.2.7' };
const from = (n: number) => ({ ip: `10.0.${n >> 8}.${n & 255}` });

const issue = () => issueTokens(place, email, hex());

const triesOf = async (): Promise<number> => (await get<TokenItem>(tokenItemKey(place)))?.tries ?? 0;

const other = (code: string): string => (code === 'AAAA-AAAA' ? 'BBBB-BBBB' : 'AAAA-AAAA');

test('a code is valid at the fifth attempt and not at the sixth, which is not counted', async () => {
  const first = await issue();
  for (let wrong = 0; wrong < 4; wrong++) expect(await consumeCode(place, other(first.code), here)).toBeUndefined();
  expect(await consumeCode(place, first.code, here)).toBeDefined();
  place = { ...place, addressKey: addressKeyOf(`second-${email}`) };
  const second = await issue();
  for (let wrong = 0; wrong < 5; wrong++) expect(await consumeCode(place, other(second.code), here)).toBeUndefined();
  expect(await consumeCode(place, second.code, here)).toBeUndefined();
  expect(await triesOf()).toBe(5);
});

test('five of 50 concurrent guesses are counted, also for an address without a code', async () => {
  await inParallel(50, () => consumeCode(place, 'AAAA-AAAA', here));
  expect(await triesOf()).toBe(5);
});

describe.each([
  ['users', () => projectScope(hex())],
  ['developers', () => developerScope],
])('a code of %s', (_accounts, scopeOf) => {
  beforeEach(() => {
    place = { ...place, scope: scopeOf(), kind: 'code' };
  });

  test('is valid for another client after 50 concurrent wrong guesses of one client', async () => {
    const { code } = await issue();
    await inParallel(50, () => consumeCode(place, other(code), from(1)));
    expect(await triesOf()).toBe(5);
    expect(await consumeCode(place, code, from(1))).toBeUndefined();
    expect(await consumeCode(place, code, here)).toBeDefined();
  });

  test('is valid for one of 50 concurrent clients', async () => {
    const { code } = await issue();
    const used = await inParallel(50, (n) => consumeCode(place, code, from(n)));
    expect(used.filter(Boolean)).toHaveLength(1);
  });

  test('is invalid for all clients after 100 of 150 concurrent guesses', async () => {
    const { code } = await issue();
    await inParallel(150, (n) => consumeCode(place, other(code), from(n)));
    expect(await triesOf()).toBe(100);
    expect(await consumeCode(place, code, here)).toBeUndefined();
  });
});

test('a new email has its own attempts', async () => {
  const first = await issue();
  await inParallel(5, () => consumeCode(place, other(first.code), here));
  const moment = clock.now() + 61_000;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
  const second = await issue();
  expect(await consumeCode(place, second.code, here)).toBeDefined();
});

test('addresses of one IPv6 /64 are one client', async () => {
  const { code } = await issue();
  for (let n = 0; n < 5; n++) await consumeCode(place, other(code), { ip: `2001:db8:1:2::${n + 1}` });
  expect(await consumeCode(place, code, { ip: '2001:db8:1:2::99' })).toBeUndefined();
});

test('a link of another account stays valid', async () => {
  const userId = hex();
  const { token } = await issueTokens({ ...place, kind: 'change' }, email, userId);
  const consume = (id: string) => consumeToken(place.scope, 'change', token, { ...here, userId: id });
  expect(await consume(hex())).toBeUndefined();
  expect((await inParallel(50, () => consume(userId))).filter(Boolean)).toHaveLength(1);
});

test('ten of 50 concurrent emails of changes to one address are sent in an hour', async () => {
  const counted = await inParallel(50, () => countChangeMail(place.scope, email));
  expect(counted.filter(Boolean)).toHaveLength(10);
  const moment = clock.now() + 3_601_000;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
  expect(await countChangeMail(place.scope, email)).toBe(true);
});

test('an email that could not be sent ends only its own cooldown', async () => {
  const earlier = await issue();
  const moment = clock.now() + 61_000;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
  const later = await issue();
  expect(later.isGood).toBe(true);
  await endCooldown(place, earlier.token);
  expect(await issue()).toMatchObject({ isGood: false });
  await endCooldown(place, later.token);
  expect(await issue()).toMatchObject({ isGood: true });
});

test('a used code lets one of 50 concurrent requests send the next email', async () => {
  const first = await issue();
  expect(await issue()).toMatchObject({ isGood: false });
  expect(await consumeCode(place, first.code, here)).toBeDefined();
  const moment = clock.now() + 2000;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
  const next = await inParallel(50, issue);
  expect(next.filter(({ isGood }) => isGood)).toHaveLength(1);
  expect(await consumeCode(place, first.code, here)).toBeUndefined();
});
