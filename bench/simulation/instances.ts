/** Runs `act` for `count` simulated function instances, `atOnce` at a time. */
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

/** One result: what the instances requested, what was allowed, and the correct range. */
export interface Finding {
  readonly what: string;
  readonly asked: number;
  readonly let: number;
  /** Correct minimum and maximum. */
  readonly least: number;
  readonly most: number;
  readonly writes: number;
}

export const isRight = ({ let: through, least, most }: Finding): boolean => through >= least && through <= most;
