import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { appliedBy } from '../../../shared/documents/store/operations.ts';
import { planUpdate } from '../../../shared/documents/store/plan-update.ts';
import { schemaFree } from '../../shared/documents/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

type Value = number | string | null | boolean | Value[] | { [name: string]: Value };
type Fields = Record<string, Value>;

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }, { name: 'bounded', schema: bounded }]);
});

const bounded = [
  { key: 'a', type: 'Number', min: -20, max: 50, integer: true },
  { key: 'b', type: 'Number', max: 12.5 },
  { key: 'list', type: 'Array', minItems: 1, maxItems: 6 },
  { key: 'set', type: 'Array', items: { type: 'Number' }, maxItems: 5, uniqueItems: true },
];

/** A random generator with repeatable results for a seed. */
const randoms = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x7fffffff) * below) % below;
  };
};

const same = (one: Value, other: Value): boolean => JSON.stringify(one) === JSON.stringify(other);

const exact = (value: number): number => {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new Error('INVALID_UPDATE');
  return value;
};

const number = (value: Value | undefined, missing: number): number => {
  if (value === undefined) return missing;
  if (typeof value !== 'number') throw new Error('INVALID_UPDATE');
  return value;
};

const array = (value: Value | undefined): Value[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('INVALID_UPDATE');
  return value;
};

/** A model of the operators in plain JavaScript. */
const model: Record<string, (value: Value | undefined, argument: never) => Value | undefined> = {
  $inc: (value, by: number) => exact(number(value, 0) + by),
  $mul: (value, by: number) => exact(number(value, 0) * by),
  $min: (value, than: number) => Math.min(number(value, than), than),
  $max: (value, than: number) => Math.max(number(value, than), than),
  $push: (value, { $each, $position, $slice }: { $each: Value[]; $position?: number; $slice?: number }) => {
    const all = [...array(value)];
    all.splice($position ?? all.length, 0, ...$each);
    if ($slice === undefined) return all;
    return $slice < 0 ? all.slice($slice) : all.slice(0, $slice);
  },
  $addToSet: (value, { $each }: { $each: Value[] }) => {
    const all = [...array(value)];
    for (const element of $each) if (!all.some((each) => same(each, element))) all.push(element);
    return all;
  },
  $pull: (value, argument: Value) => {
    if (value === undefined) return undefined;
    return array(value).filter((element) => {
      if (typeof argument !== 'object' || argument === null || Array.isArray(argument)) return !same(element, argument);
      const least = argument.$gte;
      if (least !== undefined)
        return ![element].flat().some((value) => typeof value === 'number' && value >= Number(least));
      return !(typeof element === 'object' && element !== null && !Array.isArray(element) && element.k === argument.k);
    });
  },
  $unset: () => undefined,
};

const isWithin: Record<string, (value: Value) => boolean> = {
  a: (value) => Number(value) >= -20 && Number(value) <= 50 && Number.isInteger(value),
  b: (value) => Number(value) <= 12.5,
  list: (value) => array(value).length >= 1 && array(value).length <= 6,
  set: (value) => array(value).length <= 5 && new Set(array(value)).size === array(value).length,
};

const names = Object.keys(model);
const numbers = [-1, 1, 2, 3, -7, 0, 0.5, -0.25, 0.1, 1e9, 2 ** 31, 2 ** 52, 9_007_199_254_740_991];
const elements: Value[] = [1, 2, 3, 'x', 'y', null, [1, 2], { k: 1 }, { k: 2, l: 1 }, { l: 1, k: 2 }, true];

const argumentFor = (operator: string, random: (below: number) => number, ofNumbers: boolean): Value => {
  const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T;
  const element = () => (ofNumbers ? random(6) : pick(elements));
  switch (operator) {
    case '$inc':
    case '$mul':
    case '$min':
    case '$max':
      return ofNumbers || random(3) > 0 ? pick(numbers.slice(0, 9)) : pick(numbers);
    case '$push':
      return {
        $each: Array.from({ length: random(4) }, element),
        ...(random(3) === 0 && { $position: random(5) - 2 }),
        ...(random(3) === 0 && { $slice: random(9) - 4 }),
      };
    case '$addToSet':
      return { $each: Array.from({ length: random(4) }, element) };
    case '$pull':
      if (ofNumbers) return random(2) ? { $gte: random(6) } : random(6);
      return pick<Value>([1, 'x', null, [1, 2], { $gte: 2 }, { k: 2 }]);
    default:
      return null;
  }
};

const outcomeOf = (fields: Fields, update: Record<string, Fields>, isBounded: boolean): Fields | string => {
  const made: Fields = { ...fields };
  try {
    for (const [operator, paths] of Object.entries(update)) {
      for (const [path, argument] of Object.entries(paths)) {
        const value = model[operator]?.(fields[path], argument as never);
        if (value === undefined) delete made[path];
        else if (isBounded && isWithin[path]?.(value) === false) return 'VALIDATION_FAILED';
        else made[path] = value;
      }
    }
  } catch (error) {
    return (error as Error).message;
  }
  return made;
};

const sent = (update: Record<string, Fields>) => {
  const { $unset, ...others } = update;
  return $unset ? { ...others, $unset: Object.keys($unset) } : others;
};

const runs = async (collection: 'notes' | 'bounded', seed: number, steps: number) => {
  const random = randoms(seed);
  const isBounded = collection === 'bounded';
  const start = (): Fields => (isBounded ? { list: [1] } : { a: 1 });
  let fields: Fields = start();
  const create = async () =>
    (await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body: fields })).body._id;
  let id = await create();
  const outcomes = new Map<string, number>();
  for (let step = 0; step < steps; step += 1) {
    if (step % 25 === 24) {
      fields = start();
      id = await create();
    }
    const update: Record<string, Fields> = {};
    const paths = ['a', 'b', 'list', 'set'].filter(() => random(3) > 0);
    for (const path of paths) {
      const isArray = path === 'list' || path === 'set';
      const fitting = names.filter((name) => ['$inc', '$mul', '$min', '$max', '$unset'].includes(name) !== isArray);
      const operator = (isBounded || random(10) > 0 ? fitting : names)[random(fitting.length)] ?? '$inc';
      update[operator] = { ...update[operator], [path]: argumentFor(operator, random, isBounded) };
    }
    if (paths.length === 0) continue;
    const expected = outcomeOf(fields, update, isBounded);
    const answer = await project.api<{ data: Fields; code: string }>('PATCH', `/api/data/${collection}/${id}`, {
      body: sent(update),
    });
    const about = JSON.stringify({ fields, update, answer: answer.body });
    outcomes.set(String(answer.body.code ?? 200), (outcomes.get(String(answer.body.code ?? 200)) ?? 0) + 1);
    if (typeof expected === 'string') {
      expect(answer.status, about).toBe(400);
      // Any one of several failures may be returned.
      if (paths.length === 1) expect(answer.body.code, about).toBe(expected);
    } else {
      expect(answer.status, about).toBe(200);
      const { _id, isDeleted, deletedAt, createdAt, updatedAt, ...shown } = answer.body.data;
      expect(shown, about).toEqual(JSON.parse(JSON.stringify(expected)));
      // The service itself computes the result that it checks against rules.
      const { set, operations } = planUpdate(schemaFree, sent(update));
      const { _id: made, ...applied } = appliedBy(set, operations).to({ _id: new ObjectId(id), ...fields });
      expect(JSON.parse(JSON.stringify(applied)), about).toEqual(shown);
      fields = expected;
    }
  }
  return outcomes;
};

test.each([1, 2, 3, 4])('random operators agree with the model without a schema: seed %i', async (seed) => {
  const outcomes = await runs('notes', seed, 250);
  expect([...outcomes.keys()].sort()).toEqual(['200', 'INVALID_UPDATE']);
});

test.each([5, 6, 7, 8])('random operators agree with the model within bounds: seed %i', async (seed) => {
  const outcomes = await runs('bounded', seed, 250);
  expect([...outcomes.keys()]).toEqual(expect.arrayContaining(['200', 'VALIDATION_FAILED']));
});
