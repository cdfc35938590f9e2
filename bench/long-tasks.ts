import type { Page } from 'playwright-core';

/** Tasks of a page's main thread: their number, those over 50 ms, and the longest in ms. */
export interface Tasks {
  readonly count: number;
  readonly long: number;
  readonly longest: number;
}

/** The browser's name for a task that blocks a page. */
const longMs = 50;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** In µs. */
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;

/** Runs an action and returns the tasks of the browser's pages during it, from the browser's own tracing. */
export const tasksDuring = async (page: Page, work: () => Promise<void>): Promise<Tasks> => {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page belongs to no browser');
  const categories = ['__metadata', 'toplevel', 'disabled-by-default-devtools.timeline'];
  await browser.startTracing(page, { categories });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const ofPages = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = traceEvents
    .filter((event) => /^(?:ThreadControllerImpl::)?RunTask$/.test(event.name) && ofPages.has(threadOf(event)))
    .map(({ dur = 0 }) => dur / 1000);
  if (tasks.length === 0) throw new Error('The trace has no task of a page');
  return {
    count: tasks.length,
    long: tasks.filter((ms) => ms > longMs).length,
    longest: Math.max(...tasks),
  };
};
