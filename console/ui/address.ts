/** An address with some parameters set, and the `undefined` ones removed. */
export const addressWith = (
  path: string,
  query: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>>,
): string => {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...changes }))
    if (value !== undefined && value !== '') next.set(name, value);
  return next.size === 0 ? path : `${path}?${next}`;
};
