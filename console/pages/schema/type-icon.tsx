import type { FieldType } from '../../../shared/collections/schema/field-types.ts';

/** Outlines on a grid of 16. */
const outlines: Readonly<Record<FieldType | 'Any', string>> = {
  String: 'M3.5 4.5v-1h9v1M8 3.5v9M6.25 12.5h3.5',
  Number: 'M6.25 2.75 4.75 13.25M11.25 2.75 9.75 13.25M3 6.25h10.5M2.5 9.75H13',
  Boolean:
    'M5.25 4.25h5.5a3.75 3.75 0 0 1 0 7.5h-5.5a3.75 3.75 0 0 1 0-7.5ZM10.75 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  Date: 'M2.5 3.75h11v9.5h-11zM2.5 6.75h11M5.5 2v2.5M10.5 2v2.5',
  Object:
    'M6 2.5c-1.5 0-2 .75-2 2v2c0 .75-.5 1.25-1.5 1.5 1 .25 1.5.75 1.5 1.5v2c0 1.25.5 2 2 2M10 2.5c1.5 0 2 .75 2 2v2c0 .75.5 1.25 1.5 1.5-1 .25-1.5.75-1.5 1.5v2c0 1.25-.5 2-2 2',
  Array: 'M5.5 2.75H3v10.5h2.5M10.5 2.75H13v10.5h-2.5M6.25 8h.01M8 8h.01M9.75 8h.01',
  Ref: 'M6.75 9.25 9.25 6.75M7.5 4.75l1.25-1.25a2.65 2.65 0 0 1 3.75 3.75L11.25 8.5M8.5 11.25 7.25 12.5A2.65 2.65 0 0 1 3.5 8.75L4.75 7.5',
  Any: 'M8 3v10M3.5 5.5l9 5M12.5 5.5l-9 5',
};

/** A decoration: the type is beside it. */
export const TypeIcon = ({ type }: { readonly type: FieldType | 'Any' }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={outlines[type]} />
  </svg>
);
