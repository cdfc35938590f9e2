/** What is done with documents, by each contender in its own words. */
export type DocumentRow =
  | 'create'
  | 'bulk'
  | 'get'
  | 'list'
  | 'filter'
  | 'populate'
  | 'aggregate'
  | 'update'
  | 'delete';
