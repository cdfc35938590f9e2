import { vi } from 'vitest';

const { timeout } = AbortSignal;

/**
 * Makes every `AbortSignal.timeout` twenty times shorter until mocks are restored. Returns the original limits in ms.
 */
export const hastenLimits = (): readonly number[] => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms);
    return timeout.call(AbortSignal, ms / 20);
  });
  return limits;
};
