/** Types as `GET /api/types.ts` generates them for the collections in `shop.ts`. */
type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

interface Task {
  title: string;
  views?: number | null | undefined;
  tags?: string[] | null | undefined;
  userId?: string | null | undefined;
}

interface Condition<T> {
  $gte?: T;
  $lt?: T;
  $in?: readonly T[];
}

type Filter = {
  title?: string | Condition<string>;
  views?: number | null | Condition<number>;
  tags?: string | { $all?: readonly string[] };
  $or?: readonly Filter[];
};

export interface Schema {
  tasks: {
    document: { readonly _id: string; readonly createdAt: string } & Task;
    insert: Task;
    update: Partial<Task> & { [path: `tags.${bigint}`]: string };
    filter: Filter;
  };
  notes: {
    document: { readonly _id: string } & { [name: string]: Json };
    insert: { [name: string]: Json };
    update: { [name: string]: Json };
    filter: { [name: string]: Json };
  };
}
