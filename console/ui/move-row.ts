/** Moves the focus to the next or previous row. */
export const moveRow = (table: HTMLElement | null, step: 1 | -1): void => {
  const rows = [...(table?.querySelectorAll<HTMLElement>('tbody > tr, .cards > li') ?? [])];
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  const present = focused === -1 ? rows.findIndex((row) => row.ariaSelected === 'true') : focused;
  const next = rows[Math.max(0, Math.min(rows.length - 1, present === -1 ? 0 : present + step))];
  next?.querySelector<HTMLElement>('a, button')?.focus();
};
