import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  addressKeyOf,
  consumeCode,
  endCooldown,
  issueTokens,
  type TokenItem,
  type TokenPlace,
  tokenItemKey,
} from '../../../shared/accounts/email-tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
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

const issue = () => issueTokens(place, email, hex());

const triesOf = async (): Promise<number> => (await get<TokenItem>(tokenItemKey(place)))?.tries ?? 0;

const other = (code: string): string => (code === 'AAAA-AAAA' ? 'BBBB-BBBB' : 'AAAA-AAAA');

test('a code is good at the fifth try and not at the sixth, which is not even counted', async () => {
  const first = await issue();
  for (let wrong = 0; wrong < 4; wrong++) expect(await consumeCode(place, other(first.code))).toBeUndefined();
  expect(await consumeCode(place, first.code)).toBeDefined();
  place = { ...place, addressKey: addressKeyOf(`second-${email}`) };
  const second = await issue();
  for (let wrong = 0; wrong < 5; wrong++) expect(await consumeCode(place, other(second.code))).toBeUndefined();
  expect(await consumeCode(place, second.code)).toBeUndefined();
  expect(await triesOf()).toBe(5);
});

test('five of 50 guesses at once are counted, of an address without a code as of any other', async () => {
  await inParallel(50, () => consumeCode(place, 'AAAA-AAAA'));
  expect(await triesOf()).toBe(5);
});

test('a mail that could not be sent ends its own cooldown, and not that of a later one', async () => {
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
