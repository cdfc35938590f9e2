import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Problem } from '../api/problem.ts';
import { addressWith } from './address.ts';

/** How many items a page of a list has: the first of these, unless so many are more than an answer takes. */
const sizes = [50, 25, 10, 5, 1] as const;

/** The page that an address names, from 1, and how many items it has. */
export const pageOf = ({ page, limit }: Readonly<Record<string, string>>) => ({
  page: Math.max(1, Number(page) || 1),
  size: Number(limit) || sizes[0],
});

/**
 * Of a list whose page is larger than an answer asks for a smaller one that begins with the same item; the address
 * keeps the size. True while it does so.
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
