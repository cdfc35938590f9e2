import type { EffectInput } from '../../../shared/collections/collection.ts';
import { isPlainObject } from '../../../shared/core/json.ts';

const maxWrites = 5;

const writesOf = ({ writes }: EffectInput): readonly unknown[] => (Array.isArray(writes) ? writes : []);
const setOf = ({ set }: EffectInput): Readonly<Record<string, unknown>> => (isPlainObject(set) ? set : {});

/** The top-level fields that values read from the document. */
const readBy = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(readBy);
  if (!isPlainObject(value)) return [];
  const { $doc: path } = value;
  return typeof path === 'string' ? [path.split('.', 1)[0] ?? ''] : Object.values(value).flatMap(readBy);
};

const only = ['on', 'set', 'writes', 'mail'];
const isPlain = (effect: EffectInput): boolean => Object.keys(effect).every((name) => only.includes(name));

/** Whether one effect can do what both do: a value does not see what its own effect sets. */
const canJoin = (one: EffectInput, other: EffectInput): boolean => {
  if (!isPlain(one) || !isPlain(other)) return false;
  if (JSON.stringify([one.on].flat().toSorted()) !== JSON.stringify([other.on].flat().toSorted())) return false;
  if (one.mail !== undefined && other.mail !== undefined) return false;
  if (writesOf(one).length + writesOf(other).length > maxWrites) return false;
  const earlier = new Set(Object.keys(setOf(one)));
  return [...Object.keys(setOf(other)), ...readBy(setOf(other))].every((name) => !earlier.has(name));
};

const joined = (one: EffectInput, other: EffectInput): EffectInput => {
  const set = { ...setOf(one), ...setOf(other) };
  const writes = [...writesOf(one), ...writesOf(other)];
  return {
    ...one,
    ...(Object.keys(set).length > 0 && { set }),
    ...(writes.length > 0 && { writes }),
    ...(other.mail !== undefined && { mail: other.mail }),
  };
};

/** Adds effects to a list: into the last one, or the last of the same kind of write, if one can do both. */
export const addEffects = (list: readonly EffectInput[], made: readonly EffectInput[]): readonly EffectInput[] =>
  made.reduce<readonly EffectInput[]>((all, effect) => {
    const at = all.findLastIndex((one) => [one.on].flat().some((event) => [effect.on].flat().includes(event)));
    const host = all[at];
    return host && canJoin(host, effect) ? all.with(at, joined(host, effect)) : all.concat(effect);
  }, list);
