import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Problem } from '../api/problem.ts';
import { addressWith } from './address.ts';

/** The page sizes of a list: the first one, or a smaller one if the response would be too large. */
const sizes = [50, 25, 10, 5, 1] as const;

/** The page in the address, from 1, and its size. */
export const pageOf = ({ page, limit }: Readonly<Record<string, string>>) => ({
  page: Math.max(1, Number(page) || 1),
  size: Number(limit) || sizes[0],
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
