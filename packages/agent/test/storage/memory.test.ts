import { createMemoryStore } from "../../src/storage/memory.ts";
import { testStoreContract } from "./store-contract.ts";

testStoreContract(createMemoryStore);
