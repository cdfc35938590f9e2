/** At most `lanes` at once; the first failure is thrown once nothing is under way any more. */
export const inLanes = async <T>(
  items: readonly T[],
  lanes: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> => {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(lanes, items.length) }, lane));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};
