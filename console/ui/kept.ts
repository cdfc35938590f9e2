import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

const known = new Map<string, Signal<unknown>>();

const read = (key: string): unknown => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
};

/** A value in this browser's storage under a name, if it is valid; and a function to store another. */
export const useKept = <T>(name: string, parse: (kept: unknown) => T) => {
  const key = `basalt:${name}`;
  const kept = useMemo(() => {
    const there = known.get(key) ?? signal(read(key));
    known.set(key, there);
    return there;
  }, [key]);
  const keep = (value: unknown): void => {
    kept.value = value ?? null;
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  };
  return [parse(kept.value), keep] as const;
};
