/**
 * Does together what is asked for one by one: one at a time, each with all that came while the one before was done.
 * Whoever asks waits for the end of what does theirs, and fails where it does.
 */
export const gathered = <T>(act: (all: readonly T[]) => Promise<void>): ((one: T) => Promise<void>) => {
  let waiting: T[] = [];
  let last: Promise<void> = Promise.resolve();
  const actOnAll = (): Promise<void> => {
    const all = waiting;
    waiting = [];
    return act(all);
  };
  return (one) => {
    waiting.push(one);
    if (waiting.length === 1) last = last.then(actOnAll, actOnAll);
    return last;
  };
};
