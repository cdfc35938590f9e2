import type { Linked } from './linked-project.ts';

/** An entry of the project's log of rejected requests. */
export interface RejectedRequest {
  readonly _id: string;
  readonly at: string;
  readonly route: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fields: readonly string[];
  readonly key: string;
  readonly userId: string | null;
  readonly address: string;
  readonly requestId: string;
  readonly collection?: string;
  readonly effect?: readonly object[];
}

interface Page {
  readonly items: readonly RejectedRequest[];
  readonly total: number;
  readonly notKept: number;
}

/** Filters of the log, as the dashboard API takes them. */
export type LogFilter = Readonly<Partial<Record<'code' | 'route' | 'user' | 'requestId' | 'since', string>>>;

const pageSize = 100;

/** Reads the log page by page, the newest entries first. `notKept` counts those above 10 per second. */
export async function* rejectedPages({ dashboard, path }: Linked, filter: LogFilter = {}): AsyncGenerator<Page> {
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({ ...filter, limit: String(pageSize), page: String(page) });
    const found = await dashboard.get<Page>(`${path}/refusals?${query}`);
    yield found;
    if (page * pageSize >= found.total) return;
  }
}
