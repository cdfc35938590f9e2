import { numberText } from './number.ts';

const documents = (count: number): string => (count === 1 ? '1 document' : `${numberText(count)} documents`);

/** Texts of the documents page, loaded with it. */
export const rows = {
  export: {
    title: 'Export',
    format: 'Format',
    formats: { csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, one JSON object a line', json: 'JSON, one list' },
    columns: 'Columns',
    all: 'All fields',
    counted: (count: number, isFiltered: boolean, isSorted: boolean) =>
      `${documents(count)}${isFiltered ? ' that match the filter' : ''}, ${isSorted ? 'in the order of the list' : 'oldest first'}.`,
    search: 'Search words cannot be exported. Remove them, and use a filter instead.',
    unread: 'The filter has a part that is not valid. Remove it first.',
    chooseOne: 'Choose at least one field.',
    progress: 'Exported so far',
    written: (count: number) => `${documents(count)} written`,
    failed: 'The export failed.',
    done: (count: number) => `${documents(count)} exported`,
    cancelled: 'Export cancelled',
  },
  edit: {
    conflict: 'Someone else changed this document',
    saved: (name: string, fields: string) => `${name}: ${fields} saved`,
  },
  many: {
    all: (total: number, capped: boolean) => `Select all ${capped ? 'that match' : `${numberText(total)} that match`}`,
    allTicked: (total: number, capped: boolean) =>
      capped ? 'All that match are selected' : `All ${numberText(total)} that match are selected`,
    set: 'Set a field',
    title: { update: 'Set a field', delete: 'Move to the trash' },
    confirm: {
      update: (count: number | undefined) => (count === undefined ? 'Counting…' : `Change ${documents(count)}`),
      delete: (count: number | undefined) =>
        count === undefined ? 'Counting…' : `Move ${documents(count)} to the trash`,
    },
    done: {
      update: (count: number) => `${documents(count)} changed`,
      delete: (count: number) => `${documents(count)} moved to the trash`,
    },
    trash: 'You can restore them from the trash.',
    value: (type: string) => (type === 'Any' ? 'Any JSON, for example "paid" or 5' : type),
    progress: 'Done so far',
    stop: 'Stop',
    errors: (count: number) => `${documents(count)} not written:`,
  },
  refs: { title: 'Documents that refer to this' },
  search: {
    byId: 'Find by id',
    words: 'Search, or find by id',
    notSearchable: 'No field is searchable. Paste the id of a document, or make a field searchable in Schema.',
  },
  columns: {
    head: 'Click: sort. Drag, or Alt with ← or →: move. Drag the edge, or Shift with ← or →: width.',
    freeze: 'Freeze the first column',
    panel: 'Width of the document',
  },
  fields: {
    addTag: 'Add one',
    chooseFile: 'Choose a file',
    fileHint: 'Part of the name',
    uploadFile: 'Upload a file',
    uploadWhy: 'Public: anyone with the address can open it.',
    removeTag: (tag: string, field: string) => `Remove ${tag} from ${field}`,
    zone: (zone: string) => `time in ${zone}`,
  },
};
