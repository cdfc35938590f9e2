/** What is done with documents, by each contender in its own words. */
export type DocumentRow =
  | 'create'
  | 'bulk'
  | 'get'
  | 'getAlone'
  | 'list'
  | 'listMany'
  | 'filter'
  | 'populate'
  | 'aggregate'
  | 'update'
  | 'delete';
