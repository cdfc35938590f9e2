import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { idSource, newId } from '../../../shared/core/ids.ts';
import { seed } from '../../support/data/fuzz-values.ts';

fc.configureGlobal({ seed });

const root = path.resolve(import.meta.dirname, '../../..');
const noon = Date.UTC(2026, 0, 1, 12);
/** The first 6 bytes: the second, and its fraction. */
const timeOf = (id: ObjectId): number => Buffer.from(id.id).readUIntBE(0, 6);
const randomOf = (id: ObjectId): number => Buffer.from(id.id).readUIntBE(6, 6);
const hexOf = (id: ObjectId): string => id.toHexString();
const fresh = (from: () => ObjectId, count: number): string[] => Array.from({ length: count }, () => hexOf(from()));
const rises = (ids: readonly string[]): boolean => ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? ''));

/** A clock that shows these times in turn, and then the last one for ever. */
const showing = (times: readonly number[]): (() => number) => {
  let turn = 0;
  return () => times[Math.min(turn++, times.length - 1)] ?? 0;
};

test('an id is an ObjectId with the second and its fraction', () => {
  const id = idSource(() => noon + 750)();
  expect(ObjectId.isValid(hexOf(id))).toBe(true);
  expect(id.getTimestamp()).toEqual(new Date(noon));
  expect(timeOf(id) % 2 ** 16).toBe(0.75 * 2 ** 16);
});

test('ids of different processes sort by the millisecond of their creation', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(2106, 0) });
  fc.assert(
    fc.property(time, time, (one, other) => {
      const [a, b] = [one, other].map((at) => hexOf(idSource(() => at)()));
      expect(one === other || (a ?? '') < (b ?? '') === one < other).toBe(true);
    }),
  );
});

test('ids of one process rise when its clock goes back', () => {
  const walk = fc.array(fc.integer({ min: noon - 5, max: noon + 5 }), { minLength: 2, maxLength: 200 });
  fc.assert(fc.property(walk, (times) => rises(fresh(idSource(showing(times)), times.length))));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: noon }), { minLength: 2, maxLength: 50 }), (times) =>
      rises(fresh(idSource(showing(times)), times.length)),
    ),
  );
});

test('300 000 ids of one process in one moment differ and rise, also when the random bytes overflow', () => {
  const ids = fresh(
    idSource(() => noon),
    300_000,
  );
  expect(rises(ids)).toBe(true);
});

test('two processes never create the same id when their clocks agree', () => {
  const ids = [idSource(() => noon), idSource(() => noon)].flatMap((from) => fresh(from, 100_000));
  expect(new Set(ids).size).toBe(200_000);
});

test('ids of one moment differ by random distances of up to 32 bits', () => {
  const from = idSource(() => noon);
  const randoms = Array.from({ length: 1000 }, () => randomOf(from()));
  const steps = randoms
    .slice(1)
    .map((value, index) => value - (randoms[index] ?? 0))
    .filter((step) => step > 0);
  expect(new Set(steps).size).toBeGreaterThan(990);
  expect(Math.max(...steps)).toBeGreaterThan(2 ** 31);
  expect(Math.max(...steps)).toBeLessThan(2 ** 32);
});

test('the random bytes start anywhere and overflow into the next fraction or second', () => {
  const starts = [2 ** 48 - 2, 7];
  const asked: (readonly [number, number])[] = [];
  const from = idSource(
    () => noon - 0.001,
    (min, max) => {
      asked.push([min, max]);
      return min === 0 ? (starts.shift() ?? 0) : 5;
    },
  );
  const [first, second, third] = [from(), from(), from()];
  expect(asked).toEqual([
    [0, 2 ** 48 - 1],
    [1, 2 ** 32],
    [0, 2 ** 48 - 1],
    [1, 2 ** 32],
  ]);
  expect([first, second, third].map(randomOf)).toEqual([2 ** 48 - 2, 7, 12]);
  expect(timeOf(first) % 2 ** 16).toBe(2 ** 16 - 1);
  expect([second, third].map(timeOf)).toEqual([timeOf(first) + 1, timeOf(first) + 1]);
});

test('the service creates ids only by newId', () => {
  const files = globSync('{shared,functions,scripts}/**/*.ts', { cwd: root });
  expect(files.length).toBeGreaterThan(400);
  const others = files.filter((file) =>
    /new ObjectId\(\)|ObjectId\.generate|createFromTime/.test(readFileSync(path.join(root, file), 'utf8')),
  );
  expect(others).toEqual([]);
  expect(rises(fresh(newId, 1000))).toBe(true);
});
