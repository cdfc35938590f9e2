import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type FileRef, fileItemKey } from '../../shared/files/file-items.ts';
import { holdFile, releaseFile } from '../../shared/files/move-file.ts';
import { confirmCharge, expire, refundFile, reserve, stateOf } from '../../shared/files/upload-states.ts';
import { monthKey, monthOf } from '../../shared/mail/limits.ts';
import { confirmQuota, refundQuota, reserveQuota } from '../../shared/mail/quota.ts';
import { write } from '../../shared/persistence/table.ts';
import type { Attributes } from './expressions.ts';
import { exclusive } from './keys.ts';
import { model } from './model.ts';
import { unknownOf, valuesOf, type World } from './world.ts';

const projectId = 'a'.repeat(24);
const owner = 'b'.repeat(24);

const numberOf = (item: Attributes | undefined, name: string): number => {
  const value = item?.[name];
  return value && 'N' in value ? Number(value.N) : 0;
};
const sumOf = (items: readonly Attributes[], name: string): number =>
  items.reduce((sum, item) => sum + numberOf(item, name), 0);

const room = 5;
const plan = 25;

const mailUses = fc.array(
  fc.record({
    size: fc.integer({ min: 1, max: 3 }),
    ends: fc.array(fc.constantFrom('confirm', 'refund', 'refund one'), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Emails that are reserved, then confirmed and refunded, perhaps at the same time. */
const mailQuota = model('mail quota', mailUses, async (world, uses) => {
  await write({ put: { ...monthKey(projectId, monthOf(world.now)), used: plan - room } });
  const used = () => numberOf(world.table.items('quota#mail#')[0], 'used') - (plan - room);
  const ofOwner = () => world.table.items('mails#')[0];
  world.always = () => {
    assert.ok(used() >= 0 && used() <= room, `${used()} emails are reserved`);
    assert.equal(numberOf(ofOwner(), 'mails'), used(), "The owner's number differs");
    assert.equal(numberOf(ofOwner(), 'recipients'), 2 * used(), 'The number of recipients differs');
  };
  let refunds = 0;
  const ends: ReturnType<typeof world.actor>[] = [];
  const results = uses.map(({ size, ends: all }, at) =>
    world.actor(async () => {
      const ids = Array.from({ length: size }, (_, id) => `${at}${id}`);
      const shared = { owner: 'o', recipients: Object.fromEntries(ids.map((id) => [id, 2])) };
      const outcome = await reserveQuota({ id: projectId, plan: 'free' }, ids, { shared });
      if (!outcome.taken) return 0;
      const { slots } = outcome;
      for (const end of all) {
        ends.push(
          world.actor(async () => {
            if (end === 'confirm') await confirmQuota(slots);
            else refunds += await refundQuota(end === 'refund' ? slots : { ...slots, ids: slots.ids.slice(0, 1) });
          }),
        );
      }
      return size;
    }),
  );
  await world.finish();
  const taken = valuesOf(results).reduce<number>((sum, one) => sum + one, 0);
  if (unknownOf([...results, ...ends]) > 0 || [...results, ...ends].some(({ isLate }) => isLate)) return;
  assert.ok(used() <= taken - refunds, `${used()} emails are reserved of ${taken}, and ${refunds} were refunded`);
  if (ends.length === 0) assert.equal(used(), taken, 'A reservation was lost');
});

const refOf = (name: string): FileRef => ({ projectId, storageId: 's', filePath: `${projectId}/${name}` });
const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('reserve', 'confirm', 'expire', 'delete')), {
  minLength: 3,
  maxLength: 8,
});

/** Each transition of a file moves the quotas of its storage and its user in the same transaction. */
const checkFiles = (world: World): void => {
  const [uploads, files] = [world.table.items('upload#'), world.table.items('file#')];
  const [storage, user] = [world.table.items('quota#storage#')[0], world.table.items('quota#user#')[0]];
  const held = sumOf([...uploads, ...files], 'bytes');
  assert.equal(numberOf(storage, 'held'), held, 'The reserved bytes differ');
  assert.ok(held <= 15, `${held} bytes are reserved`);
  assert.equal(numberOf(storage, 'used'), sumOf(files, 'bytes'), 'The used bytes differ');
  assert.equal(numberOf(storage, 'files'), files.length, 'The number of files differs');
  assert.equal(numberOf(user, 'held'), held, "The user's bytes differ");
  assert.equal(numberOf(user, 'files'), uploads.length + files.length, "The user's files differ");
  assert.equal(numberOf(user, 'reservations'), uploads.length, "The user's reservations differ");
  assert.equal(world.table.items('own-file#').length, files.length, 'The list of files differs');
};

const file = {
  owner,
  bounded: 1,
  contentType: 'text/plain',
  of: undefined,
  name: undefined,
  visibility: 'private',
} as const;
const object = { size: 10, etag: 'e', contentType: 'text/plain' } as Parameters<typeof confirmCharge>[1];

const fileQuota = model('file quota', steps, async (world, all) => {
  world.always = () => checkFiles(world);
  for (const [name, step] of all) {
    const ref = refOf(name);
    world.actor(async () => {
      if (step === 'reserve') {
        return reserve(ref, { ...file, size: 10 }, { storage: 15, user: { bytes: 100, files: 5, reservations: 5 } });
      }
      if (step === 'confirm') return confirmCharge(ref, object, file);
      const state = await stateOf(ref);
      if (step === 'expire') return state?.kind === 'requested' && expire(ref, state);
      return state?.kind === 'confirmed' && refundFile(ref, { ...file, bytes: state.size });
    });
  }
  await world.finish();
});

const moves = model('moves of a file', fc.integer({ min: 2, max: 4 }), async (world, runs) => {
  const ref = refOf('a');
  await write({ put: { ...fileItemKey(ref), bytes: 1 } });
  const { enter, leave } = exclusive(world);
  for (let run = 0; run < runs; run++) {
    world.actor(async () => {
      const { done, mover } = await holdFile(ref);
      if (!done) return;
      enter();
      await world.sleep(1000);
      leave();
      await releaseFile(ref, mover);
    });
  }
  await world.finish();
  world.now += 10 * 60_000;
  assert.ok((await holdFile(ref)).done, 'The file stays held');
});

export const quotas = [mailQuota, fileQuota, moves];
