/**
 * Runs `act` in `ms`, unless what it answers is called before. Timers come first where this process stood still, so
 * what arrived meanwhile is read before the time counts as up.
 */
export const deadline = (ms: number, act: () => void): (() => void) => {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(act);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
};
