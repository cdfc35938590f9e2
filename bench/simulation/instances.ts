/** Runs `act` for each of `count` simulated function instances side by side, `atOnce` of them at any moment. */
export const onInstances = async (
  count: number,
  atOnce: number,
  act: (instance: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, work));
};

/** One line of the outcome: what was asked of the instances, what was let through, what was allowed to be. */
export interface Finding {
  readonly what: string;
  readonly asked: number;
  readonly let: number;
  /** The least and the most that is right. */
  readonly least: number;
  readonly most: number;
  readonly writes: number;
}

export const isRight = ({ let: through, least, most }: Finding): boolean => through >= least && through <= most;
