import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  consumeCode,
  consumeToken,
  type IssuedTokens,
  issueTokens,
  type TokenPlace,
} from '../../shared/accounts/email-tokens.ts';
import {
  consumeSecret,
  issueSecret,
  randomSecret,
  type SecretKind,
  sha256,
} from '../../shared/accounts/single-use-secrets.ts';
import { itemKey, projectScope } from '../../shared/persistence/item-keys.ts';
import { consumeItem, countTry, restoreItem } from '../../shared/persistence/single-use.ts';
import { write } from '../../shared/persistence/table.ts';
import * as kinds from '../../shared/persistence/table-keys.ts';
import { model, times } from './model.ts';
import { type Result, unknownOf, valuesOf } from './world.ts';

const scope = projectScope('a'.repeat(24));
const userId = 'b'.repeat(24);
const secrets: SecretKind = { keyOf: (pk, hash) => itemKey(kinds.exchangeCode, pk, { hash }), seconds: 86_400 };
const item = { key: itemKey(kinds.challenge, scope, { hash: 'x' }), condition: 'attribute_exists(pk)', values: {} };

/** A secret that several callers use. Retries of its issue may still arrive. */
export const secretModel = (name: string, consume: (secret: string) => Promise<unknown>) =>
  model(name, fc.integer({ min: 1, max: 4 }), async (world, uses) => {
    const all: Result<unknown>[] = [];
    const secret = randomSecret();
    world.actor(async () => {
      await issueSecret(secrets, scope, {}, secret);
      all.push(...times(uses, () => world.actor(() => consume(secret))));
    });
    await world.finish();
    const used = [...valuesOf(all), await consume(secret)].filter(Boolean);
    assert.ok(used.length <= 1, 'A secret was used twice');
    if (all.length > 0 && unknownOf(all) === 0) assert.equal(used.length, 1, 'A secret could not be used');
  });

/** Uses of an item, some of which are undone. */
const restored = model(
  'use that is undone',
  fc.array(fc.boolean(), { minLength: 2, maxLength: 4 }),
  async (world, all) => {
    await write({ put: item.key });
    const uses = all.map((isKept) =>
      world.actor(async () => {
        const use = await consumeItem(item);
        if (use && !isKept) await restoreItem(use);
        if (!use) return 'none';
        return isKept ? 'kept' : 'restored';
      }),
    );
    await world.finish();
    const kept = valuesOf(uses).filter((use) => use === 'kept').length + ((await consumeItem(item)) ? 1 : 0);
    assert.ok(kept <= 1, 'An item was used twice');
    // A request that arrives after its sender was rejected uses the item for nobody.
    const isForNobody = uses.some(
      ({ outcome, isLate }) => isLate && outcome.kind === 'value' && outcome.value === 'none',
    );
    if (unknownOf(uses) === 0 && !isForNobody) assert.equal(kept, 1, 'An item could not be used');
  },
);

const tries = model('number of guesses', fc.integer({ min: 3, max: 6 }), async (world, guesses) => {
  const counted = { key: item.key, condition: 'attribute_not_exists(tries) OR tries < :most', values: { most: 3 } };
  const all = times(guesses, () => world.actor(() => countTry(counted)));
  await world.finish();
  assert.ok(valuesOf(all).filter(Boolean).length <= 3, 'More guesses than allowed');
});

const codes = model(
  'emailed codes',
  fc.array(fc.constantFrom('code', 'link', 'wrong', 'again'), { minLength: 2, maxLength: 6 }),
  async (world, uses) => {
    const place: TokenPlace = { scope, kind: 'verify', addressKey: 'AAAAAAAAAAAAAAAAAAAAAA' };
    const from = { ip: '192.0.2.1' };
    const all: Result<unknown>[] = [];
    const start = (use: string, { token, code }: IssuedTokens) =>
      world.actor<unknown>(async () => {
        // Another email within a minute is not sent, and later ones replace both.
        if (use === 'again') return void (await issueTokens(place, 'a@example.com', userId));
        if (use === 'link') return consumeToken(scope, 'verify', token, from);
        return consumeCode(place, use === 'code' ? code : 'ABCD-EFGH', from);
      });
    world.actor(async () => {
      const issued = await issueTokens(place, 'a@example.com', userId);
      all.push(...uses.map((use) => start(use, issued)));
    });
    await world.finish();
    assert.ok(valuesOf(all).filter(Boolean).length <= 1, 'The code and link of an email were used twice');
  },
);

export const singleUse = [
  secretModel('single use', (secret) => consumeSecret(secrets, scope, secret)),
  restored,
  tries,
  codes,
];

/** Deletes the secret. The retry of a write whose response was lost finds nothing. */
export const consumeByDeletion = async (secret: string): Promise<unknown> => {
  const key = secrets.keyOf(scope, sha256(secret));
  return (await write({ delete: key }, 'ALL_OLD')).item;
};
