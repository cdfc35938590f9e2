/** Moves the focus to the next or previous row. */
export const moveRow = (table: HTMLElement | null, step: 1 | -1): void => {
  const rows = [...(table?.querySelectorAll<HTMLElement>('tbody > tr:not(.group), .cards > li') ?? [])];
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  const present = focused === -1 ? rows.findIndex((row) => row.ariaSelected === 'true') : focused;
  const next = rows[Math.max(0, Math.min(rows.length - 1, present === -1 ? 0 : present + step))];
  next?.querySelector<HTMLElement>('a, button')?.focus();
};

const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Moves the focus to the neighbouring cell for an arrow key. */
export const moveCell = (event: KeyboardEvent): void => {
  const step = steps[event.key];
  const cell = (event.currentTarget as Element).closest('td');
  const row = cell?.parentElement;
  if (!step || !cell || !row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const rows = [...(row.parentElement?.children ?? [])];
  const next = rows[rows.indexOf(row) + step[0]]?.children[cell.cellIndex + step[1]];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  (next.querySelector<HTMLElement>(':scope > input') ?? next).focus();
  next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
};
