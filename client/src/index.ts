export { type App, type Basalt, basalt, type Options } from './basalt.ts';
export { BasaltError, type FieldError } from './basalt-error.ts';
export type { ChangeOptions, Collection, Page, PageWanted, Revised, Wanted, WriteOptions } from './collection.ts';
export type { RequestOptions } from './connection.ts';
export type { AnyShape, Shape } from './schema.ts';
export type { SessionStorage } from './session.ts';
