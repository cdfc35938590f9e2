/** Keeps a value as the newest of at most so many; what is one too many is the oldest, and forgotten. */
export const remember = <T>(known: Map<string, T>, key: string, value: T, most: number): void => {
  known.delete(key);
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
};
