relocate tests run-tests.sh
TEST_DIR=$here/tests bash run-tests.sh
