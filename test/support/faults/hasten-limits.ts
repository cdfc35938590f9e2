import { vi } from 'vitest';

const { timeout } = AbortSignal;

/**
 * Has every time limit that is set by `AbortSignal.timeout` end twenty times as soon, until mocks are restored; answers
 * the limits as they were set, in ms.
 */
export const hastenLimits = (): readonly number[] => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return timeout.call(AbortSignal, ms / 20);
  });
  return limits;
};
