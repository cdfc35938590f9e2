/** Which page of a dashboard list is asked for: `page` counts from 1, `limit` is 1 to 100. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** One page of a dashboard list; `total` ignores paging (contract 6). */
export interface Page<T> {
  readonly items: T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

/** A page of a list that is known whole. */
export const pageFrom = <T>(all: readonly T[], { page, limit }: PageRequest): Page<T> => ({
  items: all.slice((page - 1) * limit, page * limit),
  total: all.length,
  page,
  limit,
});
