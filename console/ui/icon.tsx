/** Outlines on a grid of 16. */
const outlines = {
  overview: 'M2.5 8.5h4v5h-4zM2.5 2.5h4v3h-4zM9.5 2.5h4v5h-4zM9.5 10.5h4v3h-4z',
  access: 'M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2M3.5 7h9v6.5h-9zM8 9.5v1.75',
  users: 'M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8ZM2.75 13.5c.4-2.4 2.4-3.5 5.25-3.5s4.85 1.1 5.25 3.5',
  files: 'M2 12.75v-9.5h4.25L7.75 5.25H14v7.5z',
  mail: 'M2 3.5h12v9H2zM2.25 4 8 8.75 13.75 4',
  requests: 'M2 5.25h9.5M9 2.75l2.5 2.5L9 7.75M14 10.75H4.5M7 8.25l-2.5 2.5 2.5 2.5',
  usage: 'M3 13.5V9M8 13.5v-11M13 13.5V6.5',
  api: 'M5.25 4.5 1.75 8l3.5 3.5M10.75 4.5 14.25 8l-3.5 3.5',
  settings:
    'M2 5h5.75M11.75 5H14M2 11h2.25M8.25 11H14M9.75 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6.25 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  plus: 'M8 3.25v9.5M3.25 8h9.5',
  before: 'M9.75 3.75 5.5 8l4.25 4.25',
  after: 'M6.25 3.75 10.5 8l-4.25 4.25',
  empty: 'M2 9.5 4 3h8l2 6.5v3.5H2zM2 9.5h3.5l1 1.75h3l1-1.75H14',
} as const;

export type IconName = keyof typeof outlines;

/** A decoration. The text beside it, or the name of its button, says the same. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={outlines[name]} />
  </svg>
);
