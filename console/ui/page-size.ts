import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Problem } from '../api/problem.ts';
import { addressWith } from './address.ts';

/** The page sizes that the reader can choose. */
export const chosenSizes = [25, 50, 100] as const;

const usualSize = 50;

/** The page sizes of a list. Smaller ones are for responses that would be too large. */
const sizes = [100, 50, 25, 10, 5, 1] as const;

/** The page in the address, from 1, and its size. */
export const pageOf = ({ page, limit }: Readonly<Record<string, string>>) => ({
  page: Math.max(1, Number(page) || 1),
  size: Number(limit) || usualSize,
});

/**
 * Switches to a smaller page that begins with the same item if a page is too large for a response. The address keeps
 * the size. Returns true while it does so.
 */
export const useSmallerPage = (problem: Problem | undefined): boolean => {
  const { path, query, route } = useLocation();
  const { page, size } = pageOf(query);
  const smaller = problem?.code === 'RESULT_TOO_LARGE' ? sizes.find((one) => one < size) : undefined;
  useEffect(() => {
    if (smaller === undefined) return;
    const before = (page - 1) * size;
    const first = Math.floor(before / smaller) + 1;
    route(addressWith(path, query, { limit: String(smaller), page: first === 1 ? undefined : String(first) }), true);
  }, [smaller]);
  return smaller !== undefined;
};
